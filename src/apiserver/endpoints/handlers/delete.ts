import { Inject, Injectable, UseInterceptors } from '@nestjs/common';
import { newForbidden } from '#apimachinery/api/errors';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import type { KubeObject } from '#apimachinery/meta/types';
import { encodeLine } from '#apimachinery/runtime/encode';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import type { RequestContext } from '#apiserver/request/request-context';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import { readDeleteOptions } from './delete-options.ts';
import { newStatusSuccess } from './deleted-status.ts';
import { negotiate } from './negotiation.ts';
import { respondObject } from './object-responses.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';
import { respondJson } from './responses.ts';
import { deleteUnreadable, isUnsafeDeletion } from './unsafe-deletion.ts';
import { newDeleteRequest } from './write-request.ts';

/** DELETE of one object. Upstream: endpoints/handlers/delete.go. */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class DeleteHandler {
  constructor(@Inject(UnionAuthorizer) private readonly authorizer: Authorizer) {}

  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
    const options = await readDeleteOptions(context, endpoint);
    if (isUnsafeDeletion(options)) return deleteUnreadable(context, endpoint, negotiated, this.authorizer);
    for (const text of endpoint.definition.strategy.warningsOnDelete?.(options) ?? []) context.warn(text);
    const request = newDeleteRequest(context, endpoint, options);
    const refusal = endpoint.definition.strategy.refuseDeletion?.(context.info.name);
    if (refusal !== undefined) throw newForbidden(endpoint.store.groupResource, context.info.name, refusal);
    context.span?.event('About to delete object from database');
    const { stored, gone } = await endpoint.store.delete(request, context.info.name, options);
    context.span?.event('Object deleted from database');
    // The response is the object if only its graceful deletion started, or if its kind returns deleted objects.
    if (!gone && stored.object.metadata.deletionTimestamp === undefined) {
      return respondDeletedStatus(context, endpoint, stored.object, negotiated);
    }
    // A foreground deletion, which waits for dependents, is only accepted.
    const code = !gone && options.orphanDependents === false ? 202 : 200;
    if (!gone || endpoint.definition.strategy.returnsDeletedObject) return respondObject(context, endpoint, code, stored.bytes, negotiated);
    respondDeletedStatus(context, endpoint, stored.object, negotiated);
  }
}

function respondDeletedStatus(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  { metadata }: KubeObject,
  negotiated: Parameters<typeof respondJson>[3],
): void {
  const { group, resource } = endpoint.definition;
  const status = newStatusSuccess({ name: metadata.name ?? '', ...(group && { group }), kind: resource, uid: metadata.uid ?? '' });
  context.audit?.responseStatus(status);
  const type = metaSchema.struct('meta_v1.Status');
  context.span?.event('About to write a response');
  respondJson(context, 200, encodeLine(type, status), negotiated, type);
  context.span?.event('Writing http response done');
}
