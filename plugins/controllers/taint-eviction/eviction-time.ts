import type { Pod, Taint, Toleration } from 'kubenest/types/core_v1';
import { tolerates } from '../../common/tolerations.ts';

/**
 * Returns after which time taints with the effect NoExecute evict a pod, in milliseconds; undefined if it tolerates them without a limit.
 * Upstream: GetMatchingTolerations and getMinTolerationTime of pkg/controller/tainteviction.
 */
export function evictionDelayMs({ spec }: Pod, taints: readonly Taint[]): number | undefined {
  if (taints.length === 0) return undefined;
  const used: Toleration[] = [];
  for (const taint of taints) {
    const matching = spec?.tolerations?.filter((toleration) => tolerates(toleration, taint)) ?? [];
    const [first] = matching;
    if (!first) return 0;
    used.push(first);
  }
  const seconds = used.flatMap(({ tolerationSeconds }) => (tolerationSeconds === undefined ? [] : [Math.max(tolerationSeconds, 0)]));
  return seconds.length > 0 ? Math.min(...seconds) * 1_000 : undefined;
}

/** Taints of a node with the effect NoExecute. */
export function noExecuteTaints(taints: readonly Taint[] = []): Taint[] {
  return taints.filter(({ effect }) => effect === 'NoExecute');
}
