import { Injectable, UseInterceptors } from '@nestjs/common';
import { newInvalid } from '#apimachinery/api/errors';
import { groupVersionString } from '#apimachinery/meta/types';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import type { RequestContext } from '#apiserver/request/request-context';
import { readCreate, respondValue } from './create-request.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';

/** POST of a resource that is computed and not stored (`ResourceDefinition.computed`). */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class ComputedCreateHandler {
  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const { definition, subresource, kind } = endpoint;
    const computed = definition.computed?.[subresource];
    if (!computed) throw new Error(`no computation for ${definition.resource}/${subresource}`);
    const { namespace, name } = context.info;
    const own = { ...endpoint, decode: computed.decode };
    const { object, request, negotiated } = await readCreate(context, own, { defaults: (sent) => computed.defaults(sent) });
    const errors = computed.validate(object);
    if (errors.length > 0) throw newInvalid(kind, object.metadata.name ?? '', errors);
    const parent = subresource === '' ? undefined : (await endpoint.store.get(namespace, name, '')).object;
    await request.validate('CREATE', object, undefined);
    const answer = await computed.create(object, parent, { namespace, user: request.user, dryRun: request.dryRun });
    return respondValue(context, own, 201, { ...answer, apiVersion: groupVersionString(kind), kind: kind.kind }, negotiated);
  }
}
