import { selectorFromSet } from 'kubenest/sdk';
import type { Pod, TopologySpreadConstraint } from 'kubenest/types/core_v1';
import { matchesRequiredAffinity } from '../../common/node-affinity.ts';
import { selectorOf } from '../../common/selectors.ts';
import type { ClusterView } from './framework.ts';
import type { NodeInfo } from './node-info.ts';
import type { Labels, PodInfo, Selector } from './pod-info.ts';
import { untoleratedTaint } from '../../common/tolerations.ts';

export const hostnameLabel = 'kubernetes.io/hostname';
export const zoneLabel = 'topology.kubernetes.io/zone';

/** A topology spread constraint, compiled. */
export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly selector: Selector;
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
}

/** Constraints for pods that have none of their own. */
export interface DefaultConstraints {
  readonly constraints: readonly Pick<TopologySpreadConstraint, 'maxSkew' | 'topologyKey' | 'whenUnsatisfiable'>[];
  /** True for those of the scheduler itself: nodes without the label of a topology key take part, too. */
  readonly isSystem: boolean;
}

/** Upstream: plugins/podtopologyspread/plugin.go (systemDefaultConstraints). */
export const systemDefaultConstraints: DefaultConstraints = {
  constraints: [
    { topologyKey: hostnameLabel, maxSkew: 3, whenUnsatisfiable: 'ScheduleAnyway' },
    { topologyKey: zoneLabel, maxSkew: 5, whenUnsatisfiable: 'ScheduleAnyway' },
  ],
  isSystem: true,
};

/** True if the pod has constraints of its own, which replace the default ones. */
export const hasOwnConstraints = ({ spec }: Pod): boolean => Boolean(spec?.topologySpreadConstraints?.length);

/**
 * Compiles the constraints of one kind (`DoNotSchedule` or `ScheduleAnyway`): those of the pod or, without any, the default ones with the
 * selector of its services and controllers. Upstream: plugins/podtopologyspread/common.go.
 */
export function spreadConstraints(
  info: PodInfo,
  cluster: Pick<ClusterView, 'defaultSelector'>,
  whenUnsatisfiable: string,
  defaults: DefaultConstraints,
): SpreadConstraint[] {
  const isAsked = (one: Pick<TopologySpreadConstraint, 'whenUnsatisfiable'>): boolean => one.whenUnsatisfiable === whenUnsatisfiable;
  if (!hasOwnConstraints(info.pod)) {
    const wanted = defaults.constraints.filter(isAsked);
    const selector = wanted.length > 0 ? cluster.defaultSelector(info) : undefined;
    return selector && !selector.isEmpty() ? wanted.map((one) => compiled(one, selector)) : [];
  }
  return (info.pod.spec?.topologySpreadConstraints ?? [])
    .filter(isAsked)
    .map((one) => compiled(one, selectorWithLabelKeys(one, info.pod.metadata.labels ?? {})));
}

function compiled(one: TopologySpreadConstraint, selector: Selector): SpreadConstraint {
  return {
    topologyKey: one.topologyKey ?? '',
    maxSkew: one.maxSkew ?? 1,
    minDomains: one.minDomains ?? 1,
    selector,
    honorsAffinity: one.nodeAffinityPolicy !== 'Ignore',
    honorsTaints: one.nodeTaintsPolicy === 'Honor',
  };
}

/** Returns the selector with the pod's own values of the keys. Upstream: mergeLabelSetWithSelector. */
function selectorWithLabelKeys({ labelSelector, matchLabelKeys = [] }: TopologySpreadConstraint, labels: Labels): Selector {
  const selector = selectorOf(labelSelector);
  const own = matchLabelKeys.filter((key) => Object.hasOwn(labels, key)).map((key) => [key, labels[key] as string] as const);
  return own.length === 0 ? selector : selector.add(...selectorFromSet(Object.fromEntries(own)).requirements);
}

const effects = ['NoSchedule', 'NoExecute'];

/** True if the node counts for the constraint: it matches the pod's affinity, and with `nodeTaintsPolicy: Honor` its tolerations. */
export function countsFor({ honorsAffinity, honorsTaints }: SpreadConstraint, { pod }: PodInfo, { node }: NodeInfo): boolean {
  if (honorsAffinity && !matchesRequiredAffinity(pod, node)) return false;
  return !honorsTaints || !untoleratedTaint(node.spec?.taints ?? [], pod.spec?.tolerations ?? [], effects);
}

/** Number of pods of the namespace on the node that the selector matches and that are not being deleted. */
export function countMatching({ groups }: NodeInfo, selector: Selector, namespace: string): number {
  if (selector.isEmpty()) return 0;
  let count = 0;
  for (const group of groups.values()) if (group.namespace === namespace && selector.matches(group.labels)) count += group.count;
  return count;
}

export function matches(other: PodInfo, selector: Selector, namespace: string): boolean {
  return other.pod.metadata.deletionTimestamp === undefined && other.namespace === namespace && selector.matches(other.labels);
}

/** True if a node has the labels of all constraints. */
export function hasAllKeys({ labels }: NodeInfo, constraints: readonly SpreadConstraint[]): boolean {
  return constraints.every(({ topologyKey }) => Object.hasOwn(labels, topologyKey));
}
