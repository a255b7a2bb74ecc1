import type { Node, Taint } from 'kubenest/types/core_v1';

export const notReadyKey = 'node.kubernetes.io/not-ready';
export const unreachableKey = 'node.kubernetes.io/unreachable';
const unschedulableKey = 'node.kubernetes.io/unschedulable';

/** Keys of taints by condition and its status. */
const keysByCondition: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: notReadyKey, Unknown: unreachableKey },
  MemoryPressure: { True: 'node.kubernetes.io/memory-pressure' },
  DiskPressure: { True: 'node.kubernetes.io/disk-pressure' },
  NetworkUnavailable: { True: 'node.kubernetes.io/network-unavailable' },
  PIDPressure: { True: 'node.kubernetes.io/pid-pressure' },
};
const ownKeys = new Set([unschedulableKey, ...Object.values(keysByCondition).flatMap((keys) => Object.values(keys))]);

/** The taints NoSchedule that follow from the conditions and `spec.unschedulable`. Upstream: doNoScheduleTaintingPass. */
function wantedKeys({ spec, status }: Node): string[] {
  const keys = (status?.conditions ?? []).flatMap(({ type = '', status: state = '' }) => keysByCondition[type]?.[state] ?? []);
  return spec?.unschedulable ? [...keys, unschedulableKey] : keys;
}

/** Returns the node with the right taints NoSchedule; undefined if it has them. */
export function withNoScheduleTaints(node: Node, timeAdded: string): Node | undefined {
  const wanted = wantedKeys(node);
  const present = node.spec?.taints ?? [];
  const isOwn = ({ key = '', effect }: Taint): boolean => effect === 'NoSchedule' && ownKeys.has(key);
  const kept = present.filter((taint) => !isOwn(taint) || wanted.includes(taint.key ?? ''));
  const missing = wanted.filter((key) => !kept.some((taint) => isOwn(taint) && taint.key === key));
  if (missing.length === 0 && kept.length === present.length) return undefined;
  return withTaints(node, [...kept, ...missing.map((key) => ({ key, effect: 'NoSchedule', timeAdded }))]);
}

/** Key of the taint NoExecute for a status of the condition Ready; undefined for a ready node. */
export function noExecuteKey(ready: string | undefined): string | undefined {
  if (ready === 'False') return notReadyKey;
  return ready === 'Unknown' ? unreachableKey : undefined;
}

export function hasNoExecuteTaint({ spec }: Node, key: string): boolean {
  return spec?.taints?.some((taint) => taint.key === key && taint.effect === 'NoExecute') ?? false;
}

/** Returns the node with the taint NoExecute of the key, or none, in place of the other; undefined if it has it already. */
export function withNoExecuteTaint(node: Node, key: string | undefined, timeAdded: string): Node | undefined {
  const present = node.spec?.taints ?? [];
  const isOther = (taint: Taint): boolean =>
    taint.effect === 'NoExecute' && taint.key !== key && (taint.key === notReadyKey || taint.key === unreachableKey);
  const kept = present.filter((taint) => !isOther(taint));
  const isMissing = key !== undefined && !hasNoExecuteTaint(node, key);
  if (!isMissing && kept.length === present.length) return undefined;
  return withTaints(node, isMissing ? [...kept, { key, effect: 'NoExecute', timeAdded }] : kept);
}

function withTaints(node: Node, taints: readonly Taint[]): Node {
  const { taints: _, ...spec } = node.spec ?? {};
  return { ...node, spec: taints.length > 0 ? { ...spec, taints: [...taints] } : spec };
}
