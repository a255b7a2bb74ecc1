import type { StageFinalizers } from './stage-types.ts';

/**
 * Operations of a JSON patch that makes a stage's changes of the finalizers; none if nothing changes. Upstream:
 * kwok/pkg/utils/lifecycle/finalizers.go.
 */
export function finalizerOperations(present: readonly string[], { add = [], remove = [], empty = false }: StageFinalizers): object[] {
  const valuesOf = (items: readonly { readonly value?: string }[]): string[] => items.flatMap(({ value }) => (value ? [value] : []));
  const removed = new Set(valuesOf(remove));
  const kept = empty ? [] : present.filter((name) => !removed.has(name));
  const next = [...kept, ...valuesOf(add).filter((name) => !kept.includes(name))];
  if (next.length === present.length && next.every((name, i) => name === present[i])) return [];
  if (next.length === 0) return [{ op: 'remove', path: '/metadata/finalizers' }];
  return [{ op: 'add', path: '/metadata/finalizers', value: next }];
}
