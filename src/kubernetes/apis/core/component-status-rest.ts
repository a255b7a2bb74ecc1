import https from 'node:https';
import { Inject, Injectable } from '@nestjs/common';
import { newNotFound } from '#apimachinery/api/errors';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { encode, encodeLine } from '#apimachinery/runtime/encode';
import { oneStep } from '#apimachinery/runtime/steps';
import { respondValue } from '#apiserver/endpoints/handlers/create-request';
import { dialErrorText } from '#apiserver/endpoints/handlers/dial-error';
import { negotiate } from '#apiserver/endpoints/handlers/negotiation';
import { encodePartial, newWrongPartial } from '#apiserver/endpoints/handlers/partial';
import { parseListOptions } from '#apiserver/endpoints/handlers/query-options';
import type { ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import { respondJson } from '#apiserver/endpoints/handlers/responses';
import { selectionOf } from '#apiserver/endpoints/handlers/selection';
import { encodeTable, tableOptions } from '#apiserver/endpoints/handlers/table';
import type { RequestContext } from '#apiserver/request/request-context';
import { StorageFactory } from '#apiserver/registry/storage-factory';
import { LocalComponents } from '#apiserver/controllers/local-components';
import { answerOf, headLimits } from '#apiserver/network/answer-of';
import { trustOptions } from '#apiserver/network/trust';
import { readStart } from '#apiserver/network/webhook/read-answer';
import { CachedObject } from '#apiserver/storage/cacher/cached-object';
import { pathsAround } from '#apiserver/storage/cacher/large-object';
import type { ComponentCondition, ComponentStatus } from '#kubernetes/schema/core_v1.gen';

const deprecation = 'v1 ComponentStatus is deprecated in v1.19+';
const probeTimeoutMs = 20_000;
/** Maximum length of a message, which is cut off. Upstream: kubernetes/pkg/probe/http/http.go (maxRespBodyLength). */
const longestMessage = 10 * 1024;

type Health = Pick<ComponentCondition, 'status' | 'message' | 'error'>;

/**
 * Health checks by component. Scheduler and controller manager are probed on local ports, as upstream, unless they run in this process.
 * Upstream: kubernetes/pkg/registry/core/rest/storage_core.go.
 */
const components: Readonly<Record<string, (storage: StorageFactory, local: LocalComponents) => Promise<Health>>> = {
  scheduler: (_, local) => healthOf('kube-scheduler', 10_259, local),
  'controller-manager': (_, local) => healthOf('kube-controller-manager', 10_257, local),
  'etcd-0': async ({ storage }) => {
    try {
      await storage.healthy();
      return { status: 'True', message: 'ok' };
    } catch (error) {
      return { status: 'False', error: (error as Error).message };
    }
  },
};

async function healthOf(lease: string, port: number, local: LocalComponents): Promise<Health> {
  return local.has(lease) ? { status: 'True', message: 'ok' } : probe(`https://127.0.0.1:${port}/healthz`);
}

async function probe(url: string): Promise<Health> {
  const signal = AbortSignal.timeout(probeTimeoutMs);
  const request = https.get(url, { ...headLimits, ...trustOptions({ insecure: true }), signal, agent: false });
  try {
    const { response } = await answerOf(request);
    const { statusCode: code = 0 } = response;
    const message = (await readStart(response, longestMessage)).toString('utf8');
    return code >= 200 && code < 400
      ? { status: 'True', message }
      : { status: 'False', message: `HTTP probe failed with statuscode: ${code}` };
  } catch (error) {
    const text = signal.aborted ? 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)' : dialErrorText(error);
    return { status: 'False', message: `Get ${JSON.stringify(url)}: ${text}` };
  }
}

async function statusOf(name: string, storage: StorageFactory, local: LocalComponents): Promise<ComponentStatus | undefined> {
  const check = Object.hasOwn(components, name) ? components[name] : undefined;
  if (!check) return undefined;
  return {
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name },
    conditions: [{ type: 'Healthy', ...(await check(storage, local)) }],
  } as ComponentStatus;
}

@Injectable()
export class ComponentStatusGetHandler {
  constructor(
    @Inject(StorageFactory) private readonly storage: StorageFactory,
    @Inject(LocalComponents) private readonly local: LocalComponents,
  ) {}

  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    context.warn(deprecation);
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
    const status = await statusOf(context.info.name, this.storage, this.local);
    if (!status) throw newNotFound({ group: '', resource: 'componentstatus' }, context.info.name);
    return respondValue(context, endpoint, 200, status, negotiated);
  }
}

@Injectable()
export class ComponentStatusListHandler {
  constructor(
    @Inject(StorageFactory) private readonly storage: StorageFactory,
    @Inject(LocalComponents) private readonly local: LocalComponents,
  ) {}

  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    context.warn(deprecation);
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions, true);
    const predicate = await selectionOf(endpoint.definition, parseListOptions(context.searchParams), '');
    const all = await Promise.all(Object.keys(components).map((name) => statusOf(name, this.storage, this.local)));
    const selected = all.filter(
      (status): status is ComponentStatus => status !== undefined && predicate.matches(asCached(endpoint, status)),
    );
    if (negotiated.convert?.kind === 'Table') {
      const table = encodeTable(endpoint, selected, { resourceVersion: '' }, tableOptions(context), negotiated.convert.version);
      return respondJson(context, 200, Buffer.from(`${table}\n`), negotiated, metaSchema.struct('meta_v1.Table'));
    }
    if (negotiated.convert?.kind === 'PartialObjectMetadata') throw newWrongPartial(endpoint, negotiated.convert.kind, true);
    if (negotiated.convert) {
      const { version } = negotiated.convert;
      const head = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/${version}","metadata":{},"items":[`;
      const rows = selected.map((status) => encodePartial(status, version)).join(',');
      return respondJson(
        context,
        200,
        Buffer.from(`${head}${rows}]}\n`),
        negotiated,
        metaSchema.struct('meta_v1.PartialObjectMetadataList'),
      );
    }
    const list = endpoint.type.registry?.struct('core_v1.ComponentStatusList');
    if (!list) throw new Error('componentstatuses: unknown list type');
    const items = selected.map(({ kind: _, apiVersion: __, ...item }) => item);
    const json = encode(list, { kind: 'ComponentStatusList', apiVersion: 'v1', metadata: {}, items });
    respondJson(context, 200, Buffer.from(`${json}\n`), negotiated, list);
  }
}

/** Returns the object in the form that selectors match against. */
function asCached(endpoint: ResourceEndpoint, status: ComponentStatus): CachedObject {
  const name = status.metadata.name ?? '';
  return new CachedObject(name, 0, 0, encodeLine(endpoint.type, status), {
    parse: () => status,
    parseSteps: () => oneStep(() => status),
    fields: () => ({ 'metadata.name': name }),
    fieldPaths: pathsAround([]),
  });
}
