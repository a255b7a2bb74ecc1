import { AdmissionPlugin, type Attributes, changedPodTemplate, Configuration, inject, workloads } from 'kubenest/sdk';
import { IsSomeTexts } from '../../common/configuration.ts';
import { denyFor } from '../../common/deny.ts';

export class AllowedVolumeTypesConfiguration {
  /** Names of the members of a volume: `configMap`, `emptyDir`, `csi`. */
  @IsSomeTexts()
  types: string[] = ['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'persistentVolumeClaim', 'projected', 'secret'];
}

/** Denies volumes of other types. */
@AdmissionPlugin({ name: 'AllowedVolumeTypes', configuration: AllowedVolumeTypesConfiguration, match: workloads })
export class AllowedVolumeTypes {
  readonly #types: ReadonlySet<string>;

  constructor(@inject(Configuration) { types }: AllowedVolumeTypesConfiguration) {
    this.#types = new Set(types);
  }

  validate(request: Attributes): void {
    const template = changedPodTemplate(request);
    const problems = (template?.spec.volumes ?? []).flatMap(({ name, ...sources }) => {
      const type = Object.keys(sources).find((source) => !this.#types.has(source));
      return type === undefined ? [] : [`${template?.path}.volumes "${name}": type ${type} is not allowed`];
    });
    denyFor(request, problems);
  }
}
