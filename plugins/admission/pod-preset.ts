import {
  AdmissionPlugin,
  type Attributes,
  deepCopy,
  deepEqual,
  type Informer,
  Informers,
  inject,
  type KubeObject,
  labelSelectorAsSelector,
  type LabelSelectorSource,
  Logger,
} from 'kubenest/sdk';
import { setOwn } from '#sdk/internal';
import {
  type Container,
  containersOf,
  type EnvFromSource,
  type EnvVar,
  type Pod,
  type Volume,
  type VolumeMount,
} from '../common/pod-walker.ts';

interface PodPresetSpec {
  readonly selector?: LabelSelectorSource;
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly EnvFromSource[];
  readonly volumes?: readonly Volume[];
  readonly volumeMounts?: readonly VolumeMount[];
}
/** A PodPreset of settings.k8s.io/v1alpha1, which `kubenest/kinds` does not have. */
interface PodPresetObject extends KubeObject {
  readonly spec?: PodPresetSpec;
}

const mirrorAnnotation = 'kubernetes.io/config.mirror';
const excludeAnnotation = 'podpreset.admission.kubernetes.io/exclude';
const appliedPrefix = 'podpreset.admission.kubernetes.io/podpreset-';

/**
 * Adds environment variables, volumes and mounts of matching presets to new pods. If the presets conflict with the pod or
 * with each other, the pod is admitted without any of them. Upstream until 1.20:
 * kubernetes/plugin/pkg/admission/podpreset/admission.go.
 */
@AdmissionPlugin({ name: 'PodPreset', match: [{ groups: [''], resources: ['pods'], operations: ['CREATE'] }] })
export class PodPreset {
  readonly #presets: Informer<PodPresetObject>;

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Logger) private readonly logger: Logger,
  ) {
    this.#presets = informers.for({ group: 'settings.k8s.io', resource: 'podpresets' });
  }

  admit({ object: pod, namespace }: Attributes<Pod>): void {
    const { labels, annotations = {} } = pod.metadata;
    if (Object.hasOwn(annotations, mirrorAnnotation) || annotations[excludeAnnotation] === 'true') return;
    const presets = this.#presets.list(namespace).filter(({ spec }) => labelSelectorAsSelector(spec?.selector ?? {}).matches(labels));
    if (presets.length === 0) return;
    const merge = new PresetMerge(presets);
    merge.addTo(pod);
    if (merge.conflicts.length > 0) {
      this.logger.warn({ namespace, conflicts: merge.conflicts }, 'pod presets not applied: conflict');
      return;
    }
    merge.apply();
    for (const { metadata } of presets)
      setOwn((pod.metadata.annotations ??= {}), `${appliedPrefix}${metadata.name}`, metadata.resourceVersion);
  }
}

/** The merge of presets into a pod, which is modified only by `apply`. */
class PresetMerge {
  readonly conflicts: string[] = [];
  readonly #changes: (() => void)[] = [];

  constructor(private readonly presets: readonly PodPresetObject[]) {}

  addTo({ spec }: Pod): void {
    const volumes = this.#merged('volumes', spec.volumes, [({ name }) => name]);
    this.#changes.push(() => {
      if (volumes.length > 0) spec.volumes = volumes;
    });
    for (const { container } of containersOf(spec)) this.#addToContainer(container);
  }

  apply(): void {
    for (const change of this.#changes) change();
  }

  #addToContainer(container: Container): void {
    const env = this.#merged('env', container.env, [({ name }) => name]);
    const envFrom = this.#merged('envFrom', container.envFrom, [envFromKey]);
    const volumeMounts = this.#merged('volumeMounts', container.volumeMounts, [({ name }) => name, ({ mountPath }) => mountPath]);
    this.#changes.push(() => {
      if (env.length > 0) container.env = env;
      if (envFrom.length > 0) container.envFrom = envFrom;
      if (volumeMounts.length > 0) container.volumeMounts = volumeMounts;
    });
  }

  /** Returns the present items followed by those of the presets. Two items with a common key must be equal. */
  #merged<F extends 'env' | 'envFrom' | 'volumes' | 'volumeMounts', T extends NonNullable<PodPresetSpec[F]>[number]>(
    field: F,
    present: readonly T[] = [],
    keys: readonly ((item: T) => string)[],
  ): T[] {
    const merged = [...present];
    const taken = keys.map((keyOf) => new Map(present.map((item) => [keyOf(item), item])));
    for (const { metadata, spec } of this.presets) {
      for (const item of (spec?.[field] ?? []) as readonly T[]) {
        const found = keys.map((keyOf, i) => taken[i]?.get(keyOf(item)));
        if (found.some((one) => one !== undefined && !deepEqual(one, item)))
          this.conflicts.push(`merging ${field} for ${metadata.name} has a conflict on ${keys[0]?.(item)}`);
        if (found[0] === undefined) merged.push(deepCopy(item));
        for (const [i, keyOf] of keys.entries()) if (found[i] === undefined) taken[i]?.set(keyOf(item), item);
      }
    }
    return merged;
  }
}

function envFromKey({ prefix = '', configMapRef, secretRef }: EnvFromSource): string {
  return JSON.stringify([prefix, configMapRef?.name ?? '', secretRef?.name ?? '']);
}
