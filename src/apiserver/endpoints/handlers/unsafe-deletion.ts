import { newForbidden, newInvalid } from '#apimachinery/api/errors';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import type { DeleteOptions } from '#apimachinery/meta/types';
import { encodeLine } from '#apimachinery/runtime/encode';
import { quote } from '#apimachinery/runtime/quote';
import { fieldPath, invalid } from '#apimachinery/validation/field';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import { authorizationAttributes } from '#apiserver/authorization/authorization.guard';
import type { RequestContext } from '#apiserver/request/request-context';
import { newStatusSuccess } from './deleted-status.ts';
import type { Negotiated } from './negotiation.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';
import { respondJson } from './responses.ts';

/** Feature gate of deleting objects that cannot be decoded. */
export const unsafeDeletionGate = 'AllowUnsafeMalformedObjectDeletion';

const option = 'ignoreStoreReadErrorWithClusterBreakingPotential';
const verb = 'unsafe-delete-ignore-read-errors';

/** True if the request deletes an undecodable object. The option is ignored if its gate is off. */
export function isUnsafeDeletion(options: DeleteOptions): boolean {
  return options[option] === true;
}

/**
 * Rejects the option for collections: throws Invalid, because such objects must be deleted individually. Upstream:
 * endpoints/handlers/delete.go (DeleteCollection).
 */
export function refuseUnsafeDeletion(options: DeleteOptions): void {
  if (!isUnsafeDeletion(options)) return;
  throw newInvalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [
    invalid(fieldPath(option), true, 'is not allowed with DELETECOLLECTION, try again after removing the option'),
  ]);
}

/**
 * Deletes an undecodable object for a user with the verb `unsafe-delete-ignore-read-errors`; preconditions, finalizers, admission
 * and hooks are skipped, because they need the object. Throws Forbidden, and Invalid if the object is decodable or missing.
 * Upstream: endpoints/handlers/delete.go, registry/generic/registry/corrupt_obj_deleter.go.
 */
export async function deleteUnreadable(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  negotiated: Negotiated,
  authorizer: Authorizer,
): Promise<void> {
  const { namespace, name } = context.info;
  context.auditAnnotations?.set('apiserver.k8s.io/unsafe-delete-ignore-read-error', '');
  await authorize(context, endpoint, authorizer);
  await endpoint.store.deleteUnreadable(endpoint.definition.namespaced ? namespace : '', name);
  const status = newStatusSuccess({ name, kind: endpoint.kind.kind }, 200);
  context.audit?.responseStatus(status);
  const type = metaSchema.struct('meta_v1.Status');
  respondJson(context, 200, encodeLine(type, status), negotiated, type);
}

async function authorize(context: RequestContext, { store }: ResourceEndpoint, authorizer: Authorizer): Promise<void> {
  const forbidden = (errText: string): Error => newForbidden(store.groupResource, context.info.name, errText);
  if (context.info.subresource !== '') throw forbidden(`${option} delete option is not allowed on a subresource or non-resource request`);
  const { decision, reason } = await authorizer.authorize({ ...authorizationAttributes(context), verb });
  if (decision !== 'Allow') throw forbidden(`not permitted to do ${quote(verb)}, reason: ${reason}`);
}
