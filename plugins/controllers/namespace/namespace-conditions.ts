import type { Namespace, NamespaceCondition } from 'kubenest/types/core_v1';
import type { DeletionOutcome } from './delete-content.ts';

type Report = Pick<NamespaceCondition, 'status' | 'reason' | 'message'>;

const ok = (reason: string, message: string): Report => ({ status: 'False', reason, message });

function counted(counts: ReadonlyMap<string, number>, join: (name: string, count: number) => string): string {
  return [...counts]
    .map(([name, count]) => join(name, count))
    .sort()
    .join(', ');
}

/** Returns the conditions of a deletion, by type. Upstream: pkg/controller/namespace/deletion/status_condition_utils.go. */
function reportsOf({ remaining, finalizers, errors, undiscovered }: DeletionOutcome): Record<string, Report> {
  return {
    NamespaceDeletionDiscoveryFailure:
      undiscovered.length === 0
        ? ok('ResourcesDiscovered', 'All resources successfully discovered')
        : {
            status: 'True',
            reason: 'DiscoveryFailed',
            message: `Discovery failed for some groups, ${undiscovered.length} failing: unable to retrieve the complete list of server APIs: ${undiscovered
              .map((group) => `${group}: stale GroupVersion discovery: ${group}`)
              .join(', ')}`,
          },
    NamespaceDeletionGroupVersionParsingFailure: ok('ParsedGroupVersions', 'All legacy kube types successfully parsed'),
    NamespaceDeletionContentFailure:
      errors.length === 0
        ? ok('ContentDeleted', 'All content successfully deleted, may be waiting on finalization')
        : {
            status: 'True',
            reason: 'ContentDeletionFailed',
            message: `Failed to delete all resource types, ${errors.length} remaining: ${[...errors].sort().join(', ')}`,
          },
    NamespaceContentRemaining:
      remaining.size === 0
        ? ok('ContentRemoved', 'All content successfully removed')
        : {
            status: 'True',
            reason: 'SomeResourcesRemain',
            message: `Some resources are remaining: ${counted(remaining, (name, count) => `${name} has ${count} resource instances`)}`,
          },
    NamespaceFinalizersRemaining:
      finalizers.size === 0
        ? ok('ContentHasNoFinalizers', 'All content-preserving finalizers finished')
        : {
            status: 'True',
            reason: 'SomeFinalizersRemain',
            message: `Some content in the namespace has finalizers remaining: ${counted(
              finalizers,
              (name, count) => `${name} in ${count} resource instances`,
            )}`,
          },
  };
}

/** Returns the namespace with the conditions of its deletion; undefined if it has them. `now`: RFC 3339. */
export function withConditions(namespace: Namespace, outcome: DeletionOutcome, now: string): Namespace | undefined {
  const present = namespace.status?.conditions ?? [];
  const conditions = [...present];
  let isChanged = false;
  for (const [type, report] of Object.entries(reportsOf(outcome))) {
    const at = conditions.findIndex((condition) => condition.type === type);
    const old = conditions[at];
    if (old && old.status === report.status && old.reason === report.reason && old.message === report.message) continue;
    isChanged = true;
    const lastTransitionTime = old && old.status === report.status ? (old.lastTransitionTime ?? now) : now;
    const next: NamespaceCondition = { type, ...report, lastTransitionTime };
    if (at < 0) conditions.push(next);
    else conditions[at] = next;
  }
  return isChanged ? { ...namespace, status: { ...namespace.status, conditions } } : undefined;
}
