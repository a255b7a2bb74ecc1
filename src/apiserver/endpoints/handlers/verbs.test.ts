import { Buffer } from 'node:buffer';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import type { FeatureGates } from '#apiserver/base/feature-gates';
import { Installer } from '#apiserver/endpoints/installer';
import type { GroupVersionEndpoints } from '#apiserver/endpoints/installed-endpoint';
import { Scheme } from '#apiserver/registry/scheme';
import { StorageFactory } from '#apiserver/registry/storage-factory';
import { schemas, type Thing, thing, thingDefinition } from '#apiserver/registry/test-things';
import { parseQuery } from '#apiserver/request/query';
import { RequestContext } from '#apiserver/request/request-context';
import { parseRequestInfo } from '#apiserver/request/request-info';
import { InProcessExchange } from '#apiserver/serving/in-process-exchange';
import { FakeStorageWithFeed } from '#apiserver/storage/fake-storage';
import { CreateHandler } from './create.ts';
import { DeleteCollectionHandler } from './delete-collection.ts';
import { DeleteHandler } from './delete.ts';
import { GetHandler } from './get.ts';
import { ListHandler } from './list.ts';
import { PatchHandler } from './patch.ts';
import type { EndpointHandler } from './resource-endpoint.ts';
import { respondError } from './responses.ts';
import { UpdateHandler } from './update.ts';
import { WatchHandler } from './watch.ts';

const path = '/apis/things.example.com/v1/namespaces/ns/things';
let storage: FakeStorageWithFeed;
let factory: StorageFactory;
let endpoints: GroupVersionEndpoints;

/** Handlers of the verbs, without guards and admission. */
function verbHandlers() {
  const serve = (handler: { handle: EndpointHandler }): EndpointHandler => handler.handle.bind(handler);
  return {
    get: serve(new GetHandler()),
    list: serve(new ListHandler()),
    watch: serve(new WatchHandler()),
    create: serve(new CreateHandler()),
    update: serve(new UpdateHandler()),
    patch: serve(new PatchHandler()),
    delete: serve(new DeleteHandler({ authorize: () => Promise.reject(new Error('not called')) } as never)),
    deletecollection: serve(new DeleteCollectionHandler()),
  };
}

beforeEach(async () => {
  const definition = thingDefinition();
  const group = {
    group: definition.group,
    versions: [{ version: 'v1', versionPriority: 1 }],
    groupPriorityMinimum: 1,
    resources: [definition],
  };
  const scheme = new Scheme();
  scheme.addGroup(group, schemas);
  storage = new FakeStorageWithFeed();
  factory = new StorageFactory(storage);
  const features = { enabled: () => false } as unknown as FeatureGates;
  const special = { get: () => undefined };
  const installer = new Installer({
    scheme,
    storage: factory,
    verbs: { verbs: verbHandlers() },
    special,
    features,
    capabilities: new Set(),
  });
  endpoints = installer.install(group).get('things.example.com/v1') as GroupVersionEndpoints;
  await factory.whenReady();
  await send('POST', '', { body: thing('red', { name: 'a', labels: { kind: 'warm' } }) });
  await send('POST', '', { body: thing('blue', { name: 'b' }) });
});
afterEach(() => factory.close());

interface Sent {
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
}

/** Sends a request for a path below the collection to the handler of its verb. */
async function send(method: string, below: string, { body, type = 'application/json', accept = '*/*' }: Sent = {}) {
  const url = `${path}${below}`;
  const bytes = body === undefined ? undefined : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const headers = { accept, ...(bytes && { 'content-type': type, 'content-length': String(bytes.length) }) };
  const exchange = new InProcessExchange({ method, url, headers, body: bytes });
  const [plainPath = '', query = ''] = url.split('?');
  const info = parseRequestInfo(method, plainPath, () => parseQuery(query));
  const context = new RequestContext(exchange, plainPath, query, info);
  context.user = { name: 'jane', groups: [] };
  const { endpoint, verbs } = endpoints.get('things') as NonNullable<ReturnType<typeof endpoints.get>>;
  const served = Promise.resolve().then(() => verbs.get(info.verb)?.(context, endpoint));
  served.catch((error: unknown) => respondError(context, error));
  const response = await exchange.response;
  return { code: response.status, response, warnings: context.warnings };
}

/** Returns the code, and the message of a Status or the summary of the objects: `a red, b blue`. */
async function outcome(...request: Parameters<typeof send>): Promise<string> {
  const { code, response } = await send(...request);
  const text = await response.text();
  if (!text.startsWith('{')) return `${code} ${text.trim()}`;
  const answer = JSON.parse(text) as KubeObject & { message?: string; status?: string; items?: Thing[] };
  if (answer.kind === 'Status') return `${code} ${answer.message ?? answer.status}`;
  const all = answer.items ?? [answer as Thing];
  return `${code} ${all.map(({ metadata, spec }) => `${metadata.name}${spec?.color === undefined ? '' : ` ${spec.color}`}`).join(', ')}`;
}

async function stored(): Promise<string> {
  const { response } = await send('GET', '');
  const { items } = (await response.json()) as { items: Thing[] };
  return items.map(({ metadata, spec }) => `${metadata.name} ${spec?.color}`).join(', ');
}

const merge = 'application/merge-patch+json';
const jsonPatch = 'application/json-patch+json';
const apply = 'application/apply-patch+yaml';

describe('reads', () => {
  it.each<[name: string, below: string, want: string, accept?: string]>([
    ['an object', '/a', '200 a red'],
    ['no object', '/c', '404 things.things.example.com "c" not found'],
    ['the collection', '', '200 a red, b blue'],
    ['the objects with a label', '?labelSelector=kind%3Dwarm', '200 a red'],
    ['the objects with a name', '?fieldSelector=metadata.name%3Db', '200 b blue'],
    [
      'an unknown field selector',
      '?fieldSelector=spec.color%3Dred',
      '400 "spec.color" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    ['a page', '?limit=1', '200 a red'],
    [
      'an invalid revision',
      '/a?resourceVersion=x',
      '500 resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
    ],
    ['the metadata', '', '200 a, b', 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'],
    ['an unknown media type', '/a', '406 406: Not Acceptable', 'image/png'],
  ])('%s', async (_, below, want, accept) => {
    expect(await outcome('GET', below, accept === undefined ? {} : { accept })).toContain(want);
  });

  it('a page names the next one, which has the rest', async () => {
    const { response } = await send('GET', '?limit=1');
    const { metadata } = (await response.json()) as { metadata: ListMeta };
    expect(metadata).toMatchObject({ resourceVersion: '3', remainingItemCount: 1 });
    expect(await outcome('GET', `?limit=1&continue=${encodeURIComponent(metadata.continue as string)}`)).toBe('200 b blue');
  });

  it('a watch sends the objects, later changes, and ends at its timeout', async () => {
    const { response } = await send('GET', '?watch=true&timeoutSeconds=1');
    await send('PATCH', '/a', { body: { spec: { color: 'green' } }, type: merge });
    await send('DELETE', '/b');
    const events = (await response.text()).trim().split('\n');
    const summary = events.map((line) => JSON.parse(line) as { type: string; object: Thing });
    expect(summary.map(({ type, object }) => `${type} ${object.metadata.name} ${object.spec?.color}`)).toEqual([
      'ADDED a red',
      'ADDED b blue',
      'MODIFIED a green',
      'DELETED b blue',
    ]);
  });
});

describe('writes', () => {
  it.each<{ name: string; request: Parameters<typeof send>; want: string; left?: string }>([
    {
      name: 'POST creates',
      request: ['POST', '', { body: thing('green', { name: 'c' }) }],
      want: '201 c green',
      left: 'a red, b blue, c green',
    },
    {
      name: 'POST of an existing name',
      request: ['POST', '', { body: thing('green') }],
      want: '409 things.things.example.com "a" already exists',
    },
    {
      name: 'POST of another namespace',
      request: ['POST', '', { body: thing('green', { name: 'c', namespace: 'other' }) }],
      want: '400 the namespace of the provided object does not match the namespace sent on the request',
    },
    {
      name: 'POST without a name',
      request: ['POST', '', { body: thing('green', {}) }],
      want: '422 Thing.things.example.com "" is invalid: metadata.name: Required value',
    },
    {
      name: 'POST of text that is not JSON',
      request: ['POST', '', { body: '{' }],
      want: 'json parse error: unexpected end of JSON input ({)',
    },
    {
      name: 'POST of an unknown field',
      request: ['POST', '?fieldValidation=Strict', { body: { ...thing('green', { name: 'c' }), x: 1 } }],
      want: '400 Thing in version "v1" cannot be handled as a Thing: strict decoding error: unknown field "x"',
    },
    {
      name: 'POST of another media type',
      request: ['POST', '', { body: 'x', type: 'text/plain' }],
      want: '415 the body of the request was in an unknown format',
    },
    { name: 'POST as a dry run', request: ['POST', '?dryRun=All', { body: thing('green', { name: 'c' }) }], want: '201 c green' },
    {
      name: 'POST with an unknown dry run',
      request: ['POST', '?dryRun=Some', { body: thing('green', { name: 'c' }) }],
      want: '422 CreateOptions.meta.k8s.io "" is invalid: dryRun',
    },
    { name: 'PUT replaces', request: ['PUT', '/a', { body: thing('green') }], want: '200 a green', left: 'a green, b blue' },
    {
      name: 'PUT of a missing object',
      request: ['PUT', '/c', { body: thing('green', { name: 'c' }) }],
      want: '404 things.things.example.com "c" not found',
    },
    {
      name: 'PUT of another name',
      request: ['PUT', '/a', { body: thing('green', { name: 'b' }) }],
      want: '400 the name of the object (b) does not match the name on the URL (a)',
    },
    {
      name: 'PUT of an old revision',
      request: ['PUT', '/a', { body: thing('green', { name: 'a', resourceVersion: '1' }) }],
      want: '409 Operation cannot be fulfilled on things.things.example.com "a": the object has been modified',
    },
    {
      name: 'a merge patch',
      request: ['PATCH', '/a', { body: { spec: { color: 'green' } }, type: merge }],
      want: '200 a green',
      left: 'a green, b blue',
    },
    {
      name: 'a merge patch that removes',
      request: ['PATCH', '/a', { body: { spec: { color: null } }, type: merge }],
      want: '200 a',
      left: 'a undefined, b blue',
    },
    {
      name: 'a JSON patch',
      request: ['PATCH', '/a', { body: [{ op: 'replace', path: '/spec/color', value: 'green' }], type: jsonPatch }],
      want: '200 a green',
      left: 'a green, b blue',
    },
    {
      name: 'a JSON patch whose test fails',
      request: ['PATCH', '/a', { body: [{ op: 'test', path: '/spec/color', value: 'x' }], type: jsonPatch }],
      want: '422 the server rejected our request due to an error in our request',
    },
    {
      name: 'a patch of a missing object',
      request: ['PATCH', '/c', { body: {}, type: merge }],
      want: '404 things.things.example.com "c" not found',
    },
    {
      name: 'an apply of a missing object',
      request: ['PATCH', '/c?fieldManager=m', { body: thing('green', { name: 'c' }), type: apply }],
      want: '201 c green',
      left: 'a red, b blue, c green',
    },
    {
      name: 'an apply without a manager',
      request: ['PATCH', '/c', { body: thing('green', { name: 'c' }), type: apply }],
      want: '422 PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value',
    },
    {
      name: 'an apply of a field of another manager',
      request: ['PATCH', '/a?fieldManager=m', { body: thing('green'), type: apply }],
      want: '409 Apply failed with 1 conflict: conflict with "unknown" using things.example.com/v1: .spec.color',
    },
    {
      name: 'a forced apply',
      request: ['PATCH', '/a?fieldManager=m&force=true', { body: thing('green'), type: apply }],
      want: '200 a green',
      left: 'a green, b blue',
    },
    { name: 'DELETE', request: ['DELETE', '/a'], want: '200 Success', left: 'b blue' },
    { name: 'DELETE of a missing object', request: ['DELETE', '/c'], want: '404 things.things.example.com "c" not found' },
    {
      name: 'DELETE with another uid',
      request: ['DELETE', '/a', { body: { preconditions: { uid: 'x' } } }],
      want: '409 Operation cannot be fulfilled on Thing.things.example.com "a": the UID in the precondition (x) does not match',
    },
    { name: 'DELETE in the foreground', request: ['DELETE', '/a?propagationPolicy=Foreground'], want: '200 a red', left: 'a red, b blue' },
    { name: 'DELETE of the collection', request: ['DELETE', ''], want: '200 a red, b blue', left: '' },
    { name: 'DELETE of a selection', request: ['DELETE', '?labelSelector=kind%3Dwarm'], want: '200 a red', left: 'b blue' },
  ])('$name', async ({ request, want, left = 'a red, b blue' }) => {
    expect(await outcome(...request)).toContain(want);
    expect(await stored()).toBe(left);
  });

  it('warns about unknown fields by default', async () => {
    const { code, warnings } = await send('POST', '', { body: { ...thing('green', { name: 'c' }), x: 1 } });
    expect([code, warnings]).toEqual([201, ['unknown field "x"']]);
  });
});
