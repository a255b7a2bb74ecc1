import type { KubeObject, OwnerReference } from '#apimachinery/meta/types';
import { deepEqual } from '#apimachinery/runtime/equality';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';

const advice = 'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24';

/** Drops owner references that stand there twice, with a warning. Upstream: endpoints/handlers/create.go (dedupOwnerReferencesAndAddWarning). */
export function dedupOwnerReferences(context: RequestContext, { metadata }: KubeObject, afterMutatingAdmission = false): void {
  const references = metadata.ownerReferences;
  if (!references || references.length < 2) return;
  const kept: OwnerReference[] = [];
  const duplicates: string[] = [];
  for (const reference of references) {
    if (kept.some((one) => one.uid === reference.uid && deepEqual(one, reference))) duplicates.push(reference.uid);
    else kept.push(reference);
  }
  if (duplicates.length === 0) return;
  metadata.ownerReferences = kept;
  context.warn(
    afterMutatingAdmission
      ? `.metadata.ownerReferences contains duplicate entries after mutating admission happens; ${advice}; please fix your requests; duplicate UID(s) observed: ${duplicates.join(', ')}`
      : `.metadata.ownerReferences contains duplicate entries; ${advice}; please fix your requests; duplicate UID(s) observed: ${duplicates.join(', ')}`,
  );
}
