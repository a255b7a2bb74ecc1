import { applyDefaults } from '#apiserver/registry/defaulting';
import { Injectable, UseInterceptors } from '@nestjs/common';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import type { RequestContext } from '#apiserver/request/request-context';
import { negotiate } from './negotiation.ts';
import { respondObject } from './object-responses.ts';
import { dedupOwnerReferences } from './owner-references.ts';
import { parseWriteOptions } from './query-options.ts';
import { withStorageEvents } from './storage-events.ts';
import { decodeBody } from './decode-body.ts';
import { applyFieldValidation } from './field-validation.ts';
import { inputMediaType, readRequestBody } from './request-body.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';
import { newWriteRequest } from './write-request.ts';
import { ensureNamespaceMatches } from '#apiserver/registry/namespace-scope';

/** POST of an object. Upstream: endpoints/handlers/create.go. */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class CreateHandler {
  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
    const mediaType = inputMediaType(context, endpoint);
    const body = await readRequestBody(context);
    const options = parseWriteOptions(context.searchParams, 'CreateOptions');
    context.span?.event('About to convert to expected version');
    const decoded = await decodeBody(body, mediaType, endpoint, context.deadline);
    const { object } = decoded;
    context.span?.event('Conversion done');
    applyFieldValidation(context, decoded, options.fieldValidation, endpoint);
    const defaulting = applyDefaults(endpoint.definition, object, body.length);
    if (defaulting) await defaulting;
    context.audit?.requestObject(object, endpoint.type);
    ensureNamespaceMatches(endpoint.definition, context.info.namespace, object);
    dedupOwnerReferences(context, object);
    const stored = endpoint.conversion ? endpoint.conversion.toStorage(object) : object;
    const request = newWriteRequest(context, endpoint, options, body.length);
    const created = await withStorageEvents(context.span, body.length, () => endpoint.store.create(request, stored));
    return respondObject(context, endpoint, 201, created.bytes, negotiated);
  }
}
