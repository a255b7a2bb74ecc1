import { semanticDeepEqual } from 'kubenest/sdk';
import type { Toleration } from './pod-walker.ts';

/**
 * One list of two, without those that another one covers. Of equal ones the first stays.
 * Upstream: kubernetes/pkg/util/tolerations (MergeTolerations).
 */
export function mergeTolerations(first: readonly Toleration[] = [], second: readonly Toleration[] = []): Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  for (const [at, toleration] of all.entries()) {
    if (merged.some((kept) => covers(kept, toleration))) continue;
    if (all.slice(at + 1).some((later) => !semanticDeepEqual(toleration, later) && covers(later, toleration))) continue;
    merged.push(toleration);
  }
  return merged;
}

/** Whether each toleration is covered by one of the allowed ones; an empty list allows all. */
export function areTolerationsAllowed(tolerations: readonly Toleration[] = [], allowed: readonly Toleration[] = []): boolean {
  return allowed.length === 0 || tolerations.every((toleration) => allowed.some((one) => covers(one, toleration)));
}

function covers(wide: Toleration, narrow: Toleration): boolean {
  if (semanticDeepEqual(wide, narrow)) return true;
  if (narrow.key !== wide.key && (wide.key || wide.operator !== 'Exists')) return false;
  if (narrow.effect !== wide.effect && wide.effect) return false;
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  if (wide.operator === 'Exists') return true;
  return (wide.operator ?? 'Equal') === 'Equal' && narrow.operator === 'Equal' && (narrow.value ?? '') === (wide.value ?? '');
}
