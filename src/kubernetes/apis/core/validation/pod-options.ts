import { fieldPath } from '#apimachinery/validation/field';
import { isValidLabelValue } from '#apimachinery/validation/names';
import { validateLabelSelector } from '#apimachinery/validation/object-meta';
import type { ObjectMeta } from '#apimachinery/meta/types';
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { isOptedIn, isOptedOut, privilegedContainers } from '#kubernetes/apis/core/capabilities';
import { isHugePageResourceName } from '#kubernetes/apis/core/resource-list';
import type {
  Container,
  PodAffinityTerm,
  PodSpec,
  TopologySpreadConstraint,
  WeightedPodAffinityTerm,
} from '#kubernetes/schema/core_v1.gen';
import { quantityOf } from './checks.ts';
import { podDeletionCostError } from './pod-deletion-cost.ts';
import { hostSysctlError } from './host-sysctls.ts';
import { isHugePageValueDivisible } from './huge-pages.ts';

/**
 * Options of the validation of a pod: exceptions for values of the stored pod, and for feature gates. Upstream:
 * GetValidationOptionsFromPodSpecAndMeta in pkg/api/pod/util.go.
 */
export interface PodOptions {
  /** True for pods, false for templates. */
  readonly resourceIsPod: boolean;
  /** Flag `--allow-privileged`. */
  readonly allowPrivileged: boolean;
  /** The server's feature gates. */
  readonly server: ServerTraits;
  /** Feature gate EnvFiles. */
  readonly allowFileKeyRef: boolean;
  readonly allowInvalidPodDeletionCost: boolean;
  readonly allowIndivisibleHugePages: boolean;
  readonly allowInvalidLabelValueInSelector: boolean;
  readonly allowInvalidLabelValueInRequiredNodeAffinity: boolean;
  readonly allowInvalidTopologySpreadLabelSelector: boolean;
  /** True if the label keys of spread constraints are validated as if they were not merged into the selectors. */
  readonly validatesUnmergedLabelKeys: boolean;
  readonly allowNonLocalProjectedTokenPath: boolean;
  readonly allowNamespacedSysctls: boolean;
  readonly allowOnlyRecursiveSELinuxChangePolicy: boolean;
  /** Feature gate TaintTolerationComparisonOperators. */
  readonly allowTolerationComparison: boolean;
  /** Feature gate UserNamespacesHostNetworkSupport. */
  readonly allowUserNamespacesHostNetwork: boolean;
  readonly allowUserNamespacesWithVolumeDevices: boolean;
  readonly allowRestartContainerForInitContainers: boolean;
}

/** Options for a new object, which depend on the flags of the server only. */
class NewOptions implements PodOptions {
  readonly allowIndivisibleHugePages = false;
  readonly allowInvalidLabelValueInSelector = false;
  readonly allowInvalidLabelValueInRequiredNodeAffinity = false;
  readonly allowInvalidTopologySpreadLabelSelector = false;
  readonly allowNonLocalProjectedTokenPath = false;
  readonly allowNamespacedSysctls = false;
  readonly allowUserNamespacesWithVolumeDevices = false;
  readonly allowRestartContainerForInitContainers = false;

  constructor(
    readonly resourceIsPod: boolean,
    readonly server: ServerTraits,
  ) {}

  get allowPrivileged(): boolean {
    return grantsPrivileged(this.server);
  }

  get allowFileKeyRef(): boolean {
    return !isOptedOut(this.server, 'EnvFiles');
  }

  get allowInvalidPodDeletionCost(): boolean {
    return isOptedOut(this.server, 'PodDeletionCost');
  }

  get validatesUnmergedLabelKeys(): boolean {
    return isOptedOut(this.server, spreadSelectorMerge);
  }

  get allowOnlyRecursiveSELinuxChangePolicy(): boolean {
    return !isOptedIn(this.server, 'SELinuxMount');
  }

  get allowTolerationComparison(): boolean {
    return isOptedIn(this.server, 'TaintTolerationComparisonOperators');
  }

  get allowUserNamespacesHostNetwork(): boolean {
    return isOptedIn(this.server, 'UserNamespacesHostNetworkSupport');
  }
}

function grantsPrivileged({ capabilities }: ServerTraits): boolean {
  return capabilities?.has(privilegedContainers) ?? false;
}

/** Returns the options for a new pod. */
export function newPodOptions(server: ServerTraits): PodOptions {
  return new NewOptions(true, server);
}

/** Options for an update. Each is computed from the old spec on first use, which valid pods do not need. */
export class UpdateOptions implements PodOptions {
  readonly #answers = new Map<keyof PodOptions, boolean>();

  constructor(
    readonly resourceIsPod: boolean,
    readonly old: PodSpec,
    readonly oldMeta: ObjectMeta | undefined,
    readonly server: ServerTraits,
  ) {}

  get allowPrivileged(): boolean {
    return grantsPrivileged(this.server);
  }

  get allowFileKeyRef(): boolean {
    return !isOptedOut(this.server, 'EnvFiles');
  }

  get allowInvalidPodDeletionCost(): boolean {
    return this.#once(
      'allowInvalidPodDeletionCost',
      () => isOptedOut(this.server, 'PodDeletionCost') || podDeletionCostError(this.oldMeta?.annotations) !== undefined,
    );
  }

  get allowIndivisibleHugePages(): boolean {
    return this.#once('allowIndivisibleHugePages', () =>
      allContainers(this.old).some(({ resources }) =>
        [resources?.limits, resources?.requests].some((list) =>
          Object.entries(list ?? {}).some(
            ([name, amount]) => isHugePageResourceName(name) && !isHugePageValueDivisible(name, quantityOf(amount)),
          ),
        ),
      ),
    );
  }

  get allowInvalidLabelValueInSelector(): boolean {
    return this.#once('allowInvalidLabelValueInSelector', () =>
      affinityTerms(this.old).some(({ labelSelector, namespaceSelector }) =>
        [labelSelector, namespaceSelector].some((selector) =>
          selector?.matchExpressions?.some(({ values }) => values?.some(isInvalidValue)),
        ),
      ),
    );
  }

  get allowInvalidLabelValueInRequiredNodeAffinity(): boolean {
    return this.#once('allowInvalidLabelValueInRequiredNodeAffinity', () => {
      const terms = this.old.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
      return terms.some(({ matchExpressions }) => matchExpressions?.some(({ values }) => values?.some(isInvalidValue)));
    });
  }

  get allowInvalidTopologySpreadLabelSelector(): boolean {
    return this.#once('allowInvalidTopologySpreadLabelSelector', () =>
      (this.old.topologySpreadConstraints ?? []).some(
        ({ labelSelector }) =>
          validateLabelSelector(labelSelector as Parameters<typeof validateLabelSelector>[0], {}, fieldPath('labelSelector')).length > 0,
      ),
    );
  }

  /**
   * With the merge of label keys, true if a selector of the old pod contains a key of matchLabelKeys twice, in conflict with the merged
   * requirement; without it, false if a selector contains such a key at all.
   */
  get validatesUnmergedLabelKeys(): boolean {
    const merges = !isOptedOut(this.server, spreadSelectorMerge);
    return this.#once('validatesUnmergedLabelKeys', () => {
      const constraints = this.old.topologySpreadConstraints ?? [];
      if (!merges) return !constraints.some(selectsMergedKey);
      return constraints.some(({ labelSelector, matchLabelKeys = [] }) => {
        const seen = new Set(Object.keys(labelSelector?.matchLabels ?? {}));
        const merged = new Set(matchLabelKeys);
        return (labelSelector?.matchExpressions ?? []).some(({ key = '' }) => {
          const repeated = merged.has(key) && seen.has(key);
          seen.add(key);
          return repeated;
        });
      });
    });
  }

  get allowNonLocalProjectedTokenPath(): boolean {
    return this.#once('allowNonLocalProjectedTokenPath', () =>
      (this.old.volumes ?? []).some(({ projected }) =>
        projected?.sources?.some(
          ({ serviceAccountToken }) =>
            serviceAccountToken?.path !== undefined &&
            (serviceAccountToken.path.startsWith('/') ||
              serviceAccountToken.path.split('/').includes('..') ||
              serviceAccountToken.path.startsWith('..')),
        ),
      ),
    );
  }

  get allowNamespacedSysctls(): boolean {
    return this.#once('allowNamespacedSysctls', () =>
      (this.old.securityContext?.sysctls ?? []).some(({ name = '' }) => hostSysctlError(name, this.old) !== undefined),
    );
  }

  get allowOnlyRecursiveSELinuxChangePolicy(): boolean {
    return this.#once(
      'allowOnlyRecursiveSELinuxChangePolicy',
      () => !isOptedIn(this.server, 'SELinuxMount') && this.old.securityContext?.seLinuxChangePolicy === undefined,
    );
  }

  get allowTolerationComparison(): boolean {
    return this.#once(
      'allowTolerationComparison',
      () =>
        isOptedIn(this.server, 'TaintTolerationComparisonOperators') ||
        (this.old.tolerations ?? []).some(({ operator }) => operator === 'Lt' || operator === 'Gt'),
    );
  }

  get allowUserNamespacesHostNetwork(): boolean {
    return this.#once(
      'allowUserNamespacesHostNetwork',
      () => isOptedIn(this.server, 'UserNamespacesHostNetworkSupport') || (this.old.hostUsers === false && this.old.hostNetwork === true),
    );
  }

  get allowUserNamespacesWithVolumeDevices(): boolean {
    return this.#once(
      'allowUserNamespacesWithVolumeDevices',
      () => this.old.hostUsers === false && allContainers(this.old).some(({ volumeDevices }) => (volumeDevices?.length ?? 0) > 0),
    );
  }

  get allowRestartContainerForInitContainers(): boolean {
    return this.#once('allowRestartContainerForInitContainers', () =>
      (this.old.initContainers ?? []).some(
        ({ restartPolicy, resizePolicy }) =>
          restartPolicy !== 'Always' && resizePolicy?.some((policy) => policy.restartPolicy === 'RestartContainer'),
      ),
    );
  }

  /** Caches an option: validation reads it once per list item, and each computation scans the old list. */
  #once(name: keyof PodOptions, find: () => boolean): boolean {
    let answer = this.#answers.get(name);
    if (answer === undefined) this.#answers.set(name, (answer = find()));
    return answer;
  }
}

const spreadSelectorMerge = 'MatchLabelKeysInPodTopologySpreadSelectorMerge';

/** True if the selector has a key of matchLabelKeys. */
function selectsMergedKey({ labelSelector, matchLabelKeys = [] }: TopologySpreadConstraint): boolean {
  const keys = [...Object.keys(labelSelector?.matchLabels ?? {}), ...(labelSelector?.matchExpressions ?? []).map(({ key }) => key)];
  return matchLabelKeys.some((key) => keys.includes(key));
}

const isInvalidValue = (value: string) => isValidLabelValue(value).length > 0;

export function allContainers({ initContainers = [], containers = [], ephemeralContainers = [] }: PodSpec): readonly Container[] {
  return [...initContainers, ...containers, ...ephemeralContainers];
}

function affinityTerms({ affinity }: PodSpec): readonly PodAffinityTerm[] {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].flatMap((rules) => [
    ...(rules?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(rules?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      ({ podAffinityTerm = {} }: WeightedPodAffinityTerm) => podAffinityTerm,
    ),
  ]);
}

/** Returns the options for a template. `old` is the stored template; undefined for a new object. */
export function templateOptions(old: { metadata?: ObjectMeta; spec?: PodSpec } | undefined, server: ServerTraits): PodOptions {
  return old?.spec ? new UpdateOptions(false, old.spec, old.metadata, server) : new NewOptions(false, server);
}
