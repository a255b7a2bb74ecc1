import {
  AdmissionPlugin,
  type Attributes,
  changedPodTemplate,
  Configuration,
  containersOf,
  inject,
  type PodTemplate,
  workloads,
} from 'kubenest/sdk';
import { IsArray, IsBoolean, Matches, Type, ValidateNested } from 'kubenest/sdk/configuration';
import type { Volume } from 'kubenest/types/core_v1';
import { denyFor } from '../../common/deny.ts';

export class AllowedHostPath {
  /** Path on the node; the paths below it are allowed, too. */
  @Matches(/^\/(?!.*\.\.)/, { message: 'must be an absolute path without ".."' })
  path = '';
  /** True if containers may only mount it with `readOnly: true`. */
  @IsBoolean()
  readOnly = true;
}
export class AllowedHostPathsConfiguration {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => AllowedHostPath)
  paths: AllowedHostPath[] = [];
}

/** Denies `hostPath` volumes outside of the allowed paths, and mounts for writing of those that are only for reading. */
@AdmissionPlugin({ name: 'AllowedHostPaths', configuration: AllowedHostPathsConfiguration, match: workloads })
export class AllowedHostPaths {
  constructor(@inject(Configuration) private readonly configuration: AllowedHostPathsConfiguration) {}

  validate(request: Attributes): void {
    const template = changedPodTemplate(request);
    const volumes = (template?.spec.volumes ?? []).filter(({ hostPath }) => hostPath);
    if (template)
      denyFor(
        request,
        volumes.flatMap((volume) => this.#problemOf(template, volume) ?? []),
      );
  }

  #problemOf(template: PodTemplate, { name, hostPath }: Volume): string | undefined {
    const path = normal(hostPath?.path ?? '');
    const allowed = this.configuration.paths.filter((one) => isBelow(path, normal(one.path)));
    const place = `${template.path}.volumes "${name}"`;
    if (allowed.length === 0) return `${place}: host path ${path} is not allowed`;
    if (allowed.some(({ readOnly }) => !readOnly)) return undefined;
    const writer = containersOf(template).find(({ container }) =>
      container.volumeMounts?.some((mount) => mount.name === name && !mount.readOnly),
    );
    return writer && `${place}: host path ${path} may only be mounted with readOnly: true (${writer.path})`;
  }
}

/** Returns a path without empty members and the slash at its end. The API server rejects host paths with `..`. */
function normal(path: string): string {
  return `/${path
    .split('/')
    .filter((member) => member !== '' && member !== '.')
    .join('/')}`;
}

function isBelow(path: string, folder: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`);
}
