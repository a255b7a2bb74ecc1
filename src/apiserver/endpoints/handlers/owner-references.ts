import type { KubeObject, OwnerReference } from '#apimachinery/meta/types';
import type { RequestContext } from '#apiserver/request/request-context';

const advice = 'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24';

/** Removes duplicate owner references with a warning. Upstream: endpoints/handlers/create.go (dedupOwnerReferencesAndAddWarning). */
export function dedupOwnerReferences(context: RequestContext, { metadata }: KubeObject, afterMutatingAdmission = false): void {
  const references = metadata.ownerReferences;
  if (!references || references.length < 2) return;
  const kept: OwnerReference[] = [];
  const duplicates: string[] = [];
  const known = new Set<string>();
  for (const reference of references) {
    const last = kept.at(-1);
    if (last && isSame(last, reference)) {
      duplicates.push(reference.uid);
      continue;
    }
    const identity = identityOf(reference);
    if (known.has(identity)) duplicates.push(reference.uid);
    else kept.push(reference);
    known.add(identity);
  }
  if (duplicates.length === 0) return;
  metadata.ownerReferences = kept;
  context.warn(
    afterMutatingAdmission
      ? `.metadata.ownerReferences contains duplicate entries after mutating admission happens; ${advice}; please fix your requests; duplicate UID(s) observed: ${duplicates.join(', ')}`
      : `.metadata.ownerReferences contains duplicate entries; ${advice}; please fix your requests; duplicate UID(s) observed: ${duplicates.join(', ')}`,
  );
}

const parts = ['uid', 'name', 'kind', 'apiVersion', 'controller', 'blockOwnerDeletion'] as const;

/** Compares with the previous reference first, so that a million empty ones need no identity texts. */
const isSame = (a: OwnerReference, b: OwnerReference): boolean => parts.every((part) => a[part] === b[part]);

/** Returns a text that is unique for a reference, because it contains the lengths of the parts. There may be 300,000 references. */
function identityOf({ uid, name, kind, apiVersion, controller, blockOwnerDeletion }: Partial<OwnerReference>): string {
  return `${controller} ${blockOwnerDeletion} ${uid?.length} ${name?.length} ${kind?.length} ${apiVersion?.length} ${uid}${name}${kind}${apiVersion}`;
}
