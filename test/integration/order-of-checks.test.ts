import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { startTestCluster, type TestCluster } from '#testing/index';

/** Answers equal those of kube-apiserver v1.36.3, in particular where a request has several mistakes. */
let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster();
  for (const name of ['a', 'b']) await cluster.fetch(`${core}/configmaps`, { body: { metadata: { name } } });
});
afterAll(() => cluster[Symbol.asyncDispose]());

const core = '/api/v1/namespaces/default';
const apps = '/apis/apps/v1/namespaces/default/deployments';
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const events = '/apis/events.k8s.io/v1/namespaces/default/events';
const scalers = (version: string): string => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers?dryRun=All`;
const scaler = (spec: object): object => ({
  apiVersion: 'autoscaling/v1',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'h' },
  spec: { maxReplicas: 1, scaleTargetRef: { kind: 'D', name: 'd' }, ...spec },
});
const token = (content: object): string => Buffer.from(JSON.stringify(content)).toString('base64url');
const types = {
  json: 'application/json',
  yaml: 'application/yaml',
  merge: 'application/merge-patch+json',
  smp: 'application/strategic-merge-patch+json',
  jp: 'application/json-patch+json',
  text: 'text/plain',
  unvalued: 'application/json;a',
};

interface Case {
  readonly method?: string;
  readonly path: string;
  readonly body?: object | string;
  readonly type?: keyof typeof types;
  readonly accept?: string;
}

async function ask({
  method,
  path,
  body,
  type = 'json',
  accept = 'application/json',
}: Case): Promise<{ status: number; message: string; warning: string | null }> {
  const options = { ...(method && { method }), ...(body !== undefined && { body }), headers: { 'content-type': types[type], accept } };
  const response = await cluster.fetch(path, options as Parameters<TestCluster['fetch']>[1]);
  const { message = '' } = parseYaml(await response.text()) as { message?: string };
  return { status: response.status, message, warning: response.headers.get('warning') };
}

const unknownKind = (kind: string): string =>
  `${kind} in version "v1" cannot be handled as a ConfigMap: no kind "${kind}" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`;
const wrongVersion = 'the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)';
const handled = 'HorizontalPodAutoscaler in version "v1" cannot be handled as a HorizontalPodAutoscaler: ';
const policies = 'Unsupported value: "": supported values: "Foreground", "Background", "Orphan", "nil"';

describe('a request with a mistake', () => {
  const ownKind = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'k' } };
  const post = { method: 'POST', path: `${core}/configmaps?dryRun=All` };
  const patch = { method: 'PATCH', path: `${core}/configmaps/none` };
  const own = { method: 'PATCH', path: `${core}/configmaps/a?dryRun=All&fieldValidation=Ignore`, type: 'merge' } as const;
  const missing = 'configmaps "none" not found';
  it.each<[string, Case, number, string]>([
    // A patch is read after the object.
    ['invalid JSON patch of nothing', { ...patch, body: 'x', type: 'jp' }, 404, missing],
    ['merge patch of nothing by a number', { ...patch, body: '1', type: 'merge' }, 404, missing],
    ['strategic merge patch of nothing by a list', { ...patch, body: '[]', type: 'smp' }, 404, missing],
    ['merge patch that is no JSON', { ...own, body: '{' }, 400, 'Invalid JSON Patch'],
    ['merge patch that is null', { ...own, body: 'null' }, 400, 'Invalid JSON Patch'],
    [
      'merge patch that is a list',
      { ...own, body: '[1]' },
      422,
      `couldn't get version/kind; json parse error: json: cannot unmarshal array`,
    ],
    // The kind is found whatever the case of its key; the last one counts, in YAML by the order of the keys.
    ['Kind', { ...post, body: { ...ownKind, Kind: 'x' } }, 400, unknownKind('x')],
    ['Kind before kind', { ...post, body: { Kind: 'x', ...ownKind } }, 201, ''],
    ['\u212aind', { ...post, body: { ...ownKind, '\u212aind': 'x' } }, 400, unknownKind('x')],
    [
      'Kind of a number',
      { ...post, body: { Kind: 1, ...ownKind } },
      400,
      'cannot unmarshal number into Go struct field .kind of type string',
    ],
    ['Kind in YAML', { ...post, body: JSON.stringify({ ...ownKind, Kind: 'x' }), type: 'yaml' }, 201, ''],
    ['\u212aind in YAML', { ...post, body: JSON.stringify({ '\u212aind': 'x', ...ownKind }), type: 'yaml' }, 400, unknownKind('x')],
    ['ApiVersion', { ...post, body: { ...ownKind, ApiVersion: 'v2' } }, 400, 'no kind "ConfigMap" is registered for version "v2"'],
    // YAML is decoded by its sorted keys.
    [
      'values in YAML',
      { ...post, body: '{"metadata":{"labels":1},"data":1}', type: 'yaml' },
      400,
      'Go struct field ConfigMap.data of type',
    ],
    ['values in JSON', { ...post, body: '{"metadata":{"labels":1},"data":1}' }, 400, 'Go struct field ObjectMeta.metadata.labels of type'],
    // Another version or kind is decoded before it is refused.
    [
      'value in another version',
      { path: scalers('v2'), body: scaler({ maxReplicas: 'x' }) },
      400,
      `${handled}json: cannot unmarshal string`,
    ],
    [
      'field in another version',
      { path: `${scalers('v2')}&fieldValidation=Strict`, body: scaler({ x: 1 }) },
      400,
      `${handled}strict decoding error: unknown field "spec.x"`,
    ],
    ['another version', { path: scalers('v2'), body: scaler({}) }, 400, wrongVersion],
    // Upstream's scheme still has versions that no server serves.
    [
      'version that is gone',
      { path: `${apps}?dryRun=All`, body: { apiVersion: 'apps/v1beta1', kind: 'Deployment', metadata: { name: 'd' } } },
      400,
      'the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)',
    ],
    [
      'kind of a version that is gone',
      { ...post, body: { apiVersion: 'extensions/v1beta1', kind: 'Ingress', metadata: { name: 'i' } } },
      400,
      'Ingress in version "v1beta1" cannot be handled as a ConfigMap: converting (v1beta1.Ingress) to (core.ConfigMap): unknown conversion',
    ],
    ['content type whose parameter has no value', { ...post, body: ownKind, type: 'unvalued' }, 415, 'in an unknown format'],
    ['port that is no number', { method: 'POST', path: `${core}/pods/none/portforward?ports=x` }, 400, 'cannot convert to []int32: '],
    ['aggregated form of a version', { path: '/apis/apps/v1', accept: aggregated }, 406, 'only the following media types are accepted'],
    ['aggregated form of a group', { path: '/apis/apps', accept: aggregated }, 406, 'only the following media types are accepted'],
    [
      'watch in YAML with options that conflict',
      { path: `${core}/configmaps?watch=1&resourceVersionMatch=Exact`, accept: 'application/yaml' },
      422,
      'resourceVersionMatch is forbidden for watch',
    ],
    [
      'value in another kind',
      { ...post, body: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 5 } } },
      400,
      'Deployment in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name',
    ],
    [
      'another kind for a server with a scheme of its own',
      { path: '/apis/apiregistration.k8s.io/v1/apiservices', body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } } },
      400,
      'no kind "Namespace" is registered for version "v1"',
    ],
    ['another kind for events.k8s.io', { path: events, body: { apiVersion: 'v1', kind: 'Namespace' } }, 400, 'to (core.Event): unknown'],
    // An empty propagationPolicy is one.
    ['deletion', { method: 'DELETE', path: `${core}/configmaps/none?propagationPolicy=` }, 422, policies],
    ['deletion of all', { method: 'DELETE', path: `${core}/secrets?propagationPolicy=` }, 422, policies],
    // A list that is continued is not that of one name.
    ['token', { path: `${core}/configmaps?fieldSelector=metadata.name%3Da&continue=!` }, 400, 'illegal base64 data at input byte 0'],
    [
      'token without a version',
      { path: `${core}/configmaps?fieldSelector=metadata.name%3Da&continue=${token({ rv: 1, start: 'a' })}` },
      400,
      'server does not recognize this encoded version ',
    ],
    // Upstream has no watch cache for events.
    ['version of an event', { path: `${core}/events/e?resourceVersion=x` }, 400, 'invalid resource version: '],
    ['version of an event of events.k8s.io', { path: `${events}/e?resourceVersion=-1` }, 400, 'invalid resource version: '],
    ['version of a ConfigMap', { path: `${core}/configmaps/a?resourceVersion=x` }, 500, 'strconv.ParseUint'],
    ['future version of an event', { path: `${events}?resourceVersion=999999999` }, 504, 'Too large resource version: 999999999'],
  ])('%s', async (_, request, status, message) => {
    const reply = await ask(request);
    expect([reply.status, reply.message]).toEqual([status, expect.stringContaining(message)]);
  });

  it('warns of unknown fields in another version', async () => {
    const { warning } = await ask({ path: scalers('v2'), body: scaler({ x: 1 }) });
    expect(warning).toBe('299 - "unknown field \\"spec.x\\""');
  });

  it('does not warn of a deprecated resource if the router refuses the request', async () => {
    const of = async (type: keyof typeof types): Promise<unknown[]> => {
      const { status, warning } = await ask({ method: 'PATCH', path: `${core}/endpoints/e`, body: {}, type });
      return [status, warning === null];
    };
    expect([await of('text'), await of('merge')]).toEqual([
      [415, true],
      [404, false],
    ]);
  });
});

it('an existing name with a generateName is a conflict of generated names', async () => {
  const response = await cluster.fetch(`${core}/configmaps`, { body: { metadata: { name: 'a', generateName: 'a' } } });
  expect([response.status, response.headers.get('retry-after')]).toEqual([409, '1']);
  expect(await response.json()).toMatchObject({
    message: 'configmaps "a" already exists, the server was not able to generate a unique name for the object',
    details: { retryAfterSeconds: 1 },
  });
});

it('a continued list of one name has a further page after its limit', async () => {
  const content = { v: 'meta.k8s.io/v1', rv: -1, start: 'a' };
  const path = `${core}/configmaps?fieldSelector=metadata.name%3Da&limit=1&continue=${token(content)}`;
  const { metadata } = (await (await cluster.fetch(path)).json()) as { metadata: { continue?: string } };
  expect(metadata.continue).toMatch(/^ey/);
});

it('a deletion that takes the finalizers away answers with them', async () => {
  const path = `${core}/serviceaccounts`;
  await cluster.fetch(path, { body: { metadata: { name: 'f' } } });
  for (const propagationPolicy of ['Foreground', 'Background']) {
    const response = await cluster.fetch(`${path}/f`, { method: 'DELETE', body: { propagationPolicy } });
    expect(await response.json()).toHaveProperty('metadata.finalizers', ['foregroundDeletion']);
  }
  expect((await cluster.fetch(`${path}/f`)).status).toBe(404);
});

it('a write through one group of events drops the managers of the other', async () => {
  const event = { involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' }, reason: 'R', message: 'm' };
  await cluster.fetch(`${core}/events?fieldManager=one`, { body: { metadata: { name: 'e' }, ...event } });
  const response = await cluster.fetch(`${events}/e?fieldManager=two`, {
    method: 'PATCH',
    body: { metadata: { labels: { a: 'b' } } },
    headers: { 'content-type': types.merge },
  });
  expect(await response.json()).toHaveProperty('metadata.managedFields', [expect.objectContaining({ manager: 'two' })]);
});

it('a selfLink is kept in the answer of a dry run only', async () => {
  const patch = async (query: string): Promise<unknown> => {
    const response = await cluster.fetch(`${core}/configmaps/b${query}`, {
      method: 'PATCH',
      body: { metadata: { selfLink: 'x' } },
      headers: { 'content-type': types.merge },
    });
    return ((await response.json()) as { metadata: { selfLink?: string } }).metadata.selfLink;
  };
  expect([await patch(''), await patch('?dryRun=All')]).toEqual([undefined, 'x']);
});

describe('an update of a status', () => {
  const flow = { priorityLevelConfiguration: { name: 'catch-all' }, matchingPrecedence: 9000 };
  const level = { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } };
  const volume = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } };
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  it.each<[string, object, number | undefined]>([
    ['/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', flow, undefined],
    ['/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations', level, undefined],
    ['/api/v1/persistentvolumes', volume, 2],
    ['/apis/batch/v1/namespaces/default/cronjobs', { schedule: '* * * * *', jobTemplate: { spec: { template } } }, 1],
  ])('%s finds a changed uid as often as upstream', async (path, spec, causes) => {
    expect((await cluster.fetch(path, { body: { metadata: { name: 's' }, spec } })).status).toBe(201);
    const response = await cluster.fetch(`${path}/s/status?dryRun=All`, {
      method: 'PATCH',
      body: { metadata: { uid: 'x' } },
      headers: { 'content-type': types.merge },
    });
    const { details } = (await response.json()) as { details?: { causes: object[] } };
    expect([response.status, details?.causes.length]).toEqual([causes === undefined ? 200 : 422, causes]);
  });
});

it('the metadata of a DaemonSet is that of the internal object', async () => {
  const path = '/apis/apps/v1/namespaces/default/daemonsets';
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const body = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
  expect((await cluster.fetch(path, { body })).status).toBe(201);
  const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
  const { metadata } = (await (await cluster.fetch(`${path}/d`, { headers: { accept } })).json()) as { metadata: object };
  expect(metadata).not.toHaveProperty('annotations');
});

it.each(['clusterroles', 'clusterrolebindings'])('an empty table of %s has the rows of its convertor', async (resource) => {
  const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
  const response = await cluster.fetch(`/apis/rbac.authorization.k8s.io/v1/${resource}?labelSelector=none`, { headers: { accept } });
  expect(await response.json()).toHaveProperty('rows', resource === 'clusterroles' ? null : []);
});
