import { Injectable, UseInterceptors } from '@nestjs/common';
import { newNotFound } from '#apimachinery/api/errors';
import { copyObject, copyObjectSteps } from '#apimachinery/managedfields/copy-object';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { ensureNameMatches } from '#apiserver/registry/name-scope';
import { ensureNamespaceMatches } from '#apiserver/registry/namespace-scope';
import type { RequestContext } from '#apiserver/request/request-context';
import { applyObject } from './apply.ts';
import { negotiate } from './negotiation.ts';
import { readPatch } from './object-patch.ts';
import { respondObject } from './object-responses.ts';
import { notePatch } from './patch-content.ts';
import { appliedForm, isPatchType, patchTypeOf, unsupportedPatchType } from './patch-types.ts';
import { parseWriteOptions } from './query-options.ts';
import { readRequestBody } from './request-body.ts';
import { fromStorage, type ResourceEndpoint } from './resource-endpoint.ts';
import { newWriteRequest } from './write-request.ts';

/** PATCH of an object. Upstream: endpoints/handlers/patch.go. */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class PatchHandler {
  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const patchType = patchTypeOf(context);
    if (!isPatchType(context, endpoint)) throw unsupportedPatchType(context, endpoint);
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
    const body = await readRequestBody(context);
    if (context.audit?.recordsRequest) await notePatch(context.audit, body);
    context.span?.event('Recorded the audit event');
    const form = appliedForm(patchType);
    const options = parseWriteOptions(context.searchParams, 'PatchOptions', form !== undefined);
    if (form) {
      const applied = await applyObject(context, endpoint, { form, bytes: body }, options);
      context.span?.event('Object stored in database');
      return respondObject(context, endpoint, applied.created ? 201 : 200, applied.bytes, negotiated);
    }
    const { namespace, name } = context.info;
    const patch = await readPatch({ context, endpoint, type: patchType, body, options });
    const request = newWriteRequest(context, endpoint, options, patch.mostBytes);
    const stored = await endpoint.store.update(
      request,
      name,
      async (existing, pace) => {
        if (!existing) throw newNotFound(endpoint.store.groupResource, name);
        context.span?.event('About to apply patch');
        // Patches a copy, because the result shares unchanged parts, and the stored object must not be modified.
        const patching = patch.toApply().applyTo(function* () {
          return fromStorage(endpoint, pace.isImmediate ? copyObject(existing) : yield* copyObjectSteps(existing));
        }, pace);
        const next = await pace.run(patching);
        ensureNamespaceMatches(endpoint.definition, namespace, next);
        ensureNameMatches(name, next);
        const object = endpoint.conversion ? endpoint.conversion.toStorage(next) : next;
        context.span?.event('About to check admission control');
        await request.admit('UPDATE', object, existing, pace);
        return object;
      },
      { strategy: endpoint.strategy },
    );
    context.span?.event('Object stored in database');
    return respondObject(context, endpoint, 200, stored.bytes, negotiated);
  }
}
