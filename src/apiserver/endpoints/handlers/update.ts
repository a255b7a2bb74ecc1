import { applyDefaults } from '#apiserver/registry/defaulting';
import { Injectable, UseInterceptors } from '@nestjs/common';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import type { RequestContext } from '#apiserver/request/request-context';
import { negotiate } from './negotiation.ts';
import { respondObject } from './object-responses.ts';
import { dedupOwnerReferences } from './owner-references.ts';
import { parseWriteOptions } from './query-options.ts';
import type { KubeObject } from '#apimachinery/meta/types';
import type { Pace } from '#apimachinery/runtime/pace';
import { withStorageEvents } from './storage-events.ts';
import { decodeBody } from './decode-body.ts';
import { applyFieldValidation } from './field-validation.ts';
import { inputMediaType, readRequestBody } from './request-body.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';
import { newWriteRequest } from './write-request.ts';
import { ensureNameMatches } from '#apiserver/registry/name-scope';
import { ensureNamespaceMatches } from '#apiserver/registry/namespace-scope';

/** PUT of an object. Upstream: endpoints/handlers/update.go. */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class UpdateHandler {
  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
    const body = await readRequestBody(context);
    const options = parseWriteOptions(context.searchParams, 'UpdateOptions');
    const mediaType = inputMediaType(context, endpoint);
    const { namespace, name } = context.info;
    let first = true;
    let uid: string | undefined;
    /** Decodes the body for each attempt, which may modify the result. */
    const read = async () => {
      const decoded = await decodeBody(body, mediaType, endpoint, context.deadline);
      const { object } = decoded;
      if (first) applyFieldValidation(context, decoded, options.fieldValidation, endpoint);
      const defaulting = applyDefaults(endpoint.definition, object, body.length);
      if (defaulting) await defaulting;
      if (first) context.audit?.requestObject(object, endpoint.type);
      first = false;
      ensureNamespaceMatches(endpoint.definition, namespace, object);
      ensureNameMatches(name, object);
      dedupOwnerReferences(context, object);
      uid = object.metadata.uid || undefined;
      return endpoint.conversion ? endpoint.conversion.toStorage(object) : object;
    };
    context.span?.event('About to convert to expected version');
    let object: Awaited<ReturnType<typeof read>> | undefined = await read();
    context.span?.event('Conversion done');
    const request = newWriteRequest(context, endpoint, options, body.length);
    const produce = async (existing: KubeObject | undefined, pace: Pace): Promise<KubeObject> => {
      const next = object ?? (await read());
      object = undefined;
      if (existing) await request.admit('UPDATE', next, existing, pace);
      return next;
    };
    const stored = await withStorageEvents(context.span, body.length, () =>
      endpoint.store.update(request, name, produce, { strategy: endpoint.strategy, uid }),
    );
    return respondObject(context, endpoint, stored.created ? 201 : 200, stored.bytes, negotiated);
  }
}
