import { Buffer } from 'node:buffer';
import { Injectable, UseInterceptors } from '@nestjs/common';
import { newInvalid, newNotFound } from '#apimachinery/api/errors';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { groupVersionString, type KubeObject } from '#apimachinery/meta/types';
import { encodeLine } from '#apimachinery/runtime/encode';
import { oneStep } from '#apimachinery/runtime/steps';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { CachedObject } from '#apiserver/storage/cacher/cached-object';
import { pathsAround } from '#apiserver/storage/cacher/large-object';
import type { RequestContext } from '#apiserver/request/request-context';
import { readCreate, respondValue } from './create-request.ts';
import { negotiate } from './negotiation.ts';
import { parseListOptions } from './query-options.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';
import { respondJson } from './responses.ts';
import { selectionOf } from './selection.ts';
import { encodeTable, tableOptions } from './table.ts';

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

async function readObjects({ definition, kind }: ResourceEndpoint, namespace: string, name?: string): Promise<KubeObject[]> {
  if (!definition.read) throw new Error(`no computation for ${definition.resource}`);
  const objects = await definition.read(namespace, name);
  return objects.map((object) => ({ ...object, apiVersion: groupVersionString(kind), kind: kind.kind }));
}

/** GET of a resource that is computed for each request (`ResourceDefinition.read`). */
@Injectable()
export class ComputedGetHandler {
  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const { namespace, name } = context.info;
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
    const object = (await readObjects(endpoint, namespace, name)).find(({ metadata }) => metadata.name === name);
    if (!object) throw newNotFound(endpoint.definition, name);
    return respondValue(context, endpoint, 200, object, negotiated);
  }
}

/** LIST of a resource that is computed for each request, with selectors. */
@Injectable()
export class ComputedListHandler {
  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const { definition, kind, type } = endpoint;
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions, true);
    const predicate = await selectionOf(definition, parseListOptions(context.searchParams), '');
    const objects = await readObjects(endpoint, context.info.namespace);
    const selected = objects.filter((object) => predicate.matches(asCached(endpoint, object)));
    if (negotiated.convert?.kind === 'Table') {
      const table = encodeTable(endpoint, selected, { resourceVersion: '' }, tableOptions(context), negotiated.convert.version);
      return respondJson(context, 200, Buffer.from(`${table}\n`), negotiated, metaSchema.struct('meta_v1.Table'));
    }
    const head = JSON.stringify({ kind: definition.listKind, apiVersion: groupVersionString(kind), metadata: {} }).slice(0, -1);
    const items = selected.map((object) => encodeLine(type, object).toString().trimEnd()).join(',');
    return respondJson(context, 200, Buffer.from(`${head},"items":[${items}]}\n`), negotiated, type);
  }
}

/** Returns an object in the form that selectors match. */
function asCached(endpoint: ResourceEndpoint, object: KubeObject): CachedObject {
  const { namespace = '', name = '' } = object.metadata;
  return new CachedObject(`${namespace}/${name}`, 0, 0, encodeLine(endpoint.type, object), {
    parse: () => object,
    parseSteps: () => oneStep(() => object),
    fields: () => ({ 'metadata.name': name, ...(namespace && { 'metadata.namespace': namespace }) }),
    fieldPaths: pathsAround([]),
  });
}
