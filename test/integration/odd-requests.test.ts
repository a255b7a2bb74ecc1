import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster, type TestRequest } from '#testing/index';

/** Uncommon requests, with the responses of kube-apiserver v1.36.3. */
const core = '/api/v1/namespaces/default';
const apps = '/apis/apps/v1/namespaces/default';
const dry = '?dryRun=All';
const type = (contentType: string) => ({ 'content-type': contentType });
const merge = type('application/merge-patch+json');
const strategic = type('application/strategic-merge-patch+json');
const apply = type('application/apply-patch+yaml');
const as = (kind: string) => ({ accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` });
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const controller = {
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name: 'odd' },
  spec: { replicas: 1, selector: { a: 'b' }, template },
};
const statefulSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'odd' },
  spec: { selector: { matchLabels: { a: 'b' } }, template },
};
const daemonSet = { ...statefulSet, kind: 'DaemonSet' };
const event = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'odd' },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'x' },
  reason: 'R',
};

interface Answer {
  readonly kind?: string;
  readonly message?: string;
  readonly metadata?: {
    readonly generation?: number;
    readonly resourceVersion?: string;
    readonly managedFields?: readonly { readonly fieldsV1: Record<string, unknown> }[];
  };
  readonly items?: unknown;
}

const selectedBy = (operator: string) => ({ topologyKey: 'k', labelSelector: { matchExpressions: [{ key: 'a', operator }] } });
const qualified =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

type Row = [name: string, path: string, request: TestRequest, code: number, message: string];
const mediaTypes = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';

describe('odd requests', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster();
    for (const [path, body] of [
      [`${core}/configmaps`, { metadata: { name: 'odd' } }],
      [`${core}/secrets`, { metadata: { name: 'typed' } }],
      [`${core}/replicationcontrollers`, controller],
      [`${core}/events`, event],
      [`${core}/pods`, { metadata: { name: 'odd' }, spec: { containers: [{ name: 'c', image: 'i' }] } }],
      [`${apps}/statefulsets`, statefulSet],
      [`${apps}/daemonsets`, daemonSet],
    ] as const)
      expect((await cluster.fetch(path, { body })).status, path).toBe(201);
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  async function answer(path: string, request: TestRequest = {}): Promise<Answer & { readonly code: number; readonly warning: string }> {
    const response = await cluster.fetch(path, request);
    return { ...((await response.json()) as Answer), code: response.status, warning: response.headers.get('warning') ?? '' };
  }

  it.each<[name: string, headers: Record<string, string>, body: object]>([
    ['a JSON patch', type('application/json-patch+json'), [{ op: 'add', path: '/spec/template/zz', value: 1 }]],
    ['a merge patch', merge, { spec: { template: { zz: 1 } } }],
  ])('%s with unknown fields is shown with them', async (_name, headers, body) => {
    const { message } = await answer(`${apps}/statefulsets/odd?fieldValidation=Strict`, { method: 'PATCH', headers, body });
    expect(message).toContain('strict decoding error: unknown field "spec.template.zz"');
    expect(message).toContain('\\"zz\\":1');
  });

  it.each<Row>([
    ['a name with a percent sign', `${core}/configmaps/a%25b`, {}, 400, `Name parameter invalid: "a%b": may not contain '%'`],
    ['a name of two dots', `${core}/configmaps/%2e%2e`, {}, 400, `Name parameter invalid: "..": may not be '..'`],
    [
      'an object of a virtual resource',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/x',
      {},
      404,
      'the server could not find the requested resource',
    ],
    [
      'a list of a virtual resource',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews?fieldSelector=metadata.name=x',
      {},
      405,
      'the server does not allow this method on the requested resource',
    ],
    ...['/api', '/api/v1', '/apis/apps/v1'].flatMap((path): Row[] =>
      ['text/html', 'application/*', 'APPLICATION/JSON'].map((accept) => [
        `discovery behind the router as ${accept}: ${path}`,
        path,
        { headers: { accept } },
        406,
        `406: Not Acceptable\n\nAvailable representations: ${mediaTypes}`,
      ]),
    ),
    ...['/apis', '/apis/apps'].map(
      (path): Row => [
        `discovery outside the router: ${path}`,
        path,
        { headers: { accept: 'text/html' } },
        406,
        `only the following media types are accepted: ${mediaTypes}`,
      ],
    ),
    ...['text/*', 'image/png'].map(
      (accept): Row => [
        `a log as ${accept}`,
        `${core}/pods/odd/log`,
        { headers: { accept } },
        406,
        `406: Not Acceptable\n\nAvailable representations: text/plain, ${mediaTypes}`,
      ],
    ),
    ...[as('Table'), { accept: 'text/plain' }].map(
      (headers): Row => [
        `a log as ${headers.accept}`,
        `${core}/pods/odd/log`,
        { headers },
        406,
        `only the following media types are accepted: ${mediaTypes}`,
      ],
    ),
    [
      'the metadata of a log',
      `${core}/pods/odd/log`,
      { headers: as('PartialObjectMetadata') },
      500,
      'object does not implement the Object interfaces',
    ],
    [
      'the keys of service account tokens as JSON',
      '/openid/v1/jwks',
      { headers: { accept: 'application/json' } },
      406,
      '406: Not Acceptable\n\nAvailable representations: application/jwk-set+json',
    ],
    [
      'a deletion with an empty protobuf body',
      `${core}/configmaps/odd`,
      { method: 'DELETE', headers: type('application/vnd.kubernetes.protobuf'), body: Buffer.from('k8s\0') },
      400,
      'empty body',
    ],
    [
      'the deletion of a system priority class',
      '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical',
      { method: 'DELETE' },
      403,
      'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted',
    ],
    [
      'several mistyped fields of a strategic merge patch, in the order of their declaration',
      `${core}/replicationcontrollers/odd`,
      { method: 'PATCH', headers: strategic, body: { spec: { template: { spec: { hostNetwork: 'y' } }, replicas: 'z' } } },
      422,
      ' "" is invalid: patch: Invalid value: "map[spec:map[replicas:z template:map[spec:map[hostNetwork:y]]]]": unrecognized type: int32',
    ],
    [
      'a list as the metadata of an object',
      `${core}/configmaps`,
      { headers: as('PartialObjectMetadata') },
      406,
      'you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)',
    ],
    [
      'an object as a list',
      `${core}/configmaps/odd`,
      { headers: as('PartialObjectMetadataList') },
      406,
      'you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)',
    ],
    [
      'an invalid selector among conflicting options',
      `${core}/configmaps?labelSelector=a,&resourceVersionMatch=Bogus`,
      {},
      400,
      "found '', expected: identifier after ','",
    ],
    [
      'a watch that stays open',
      `${core}/configmaps?watch=1&continue=x`,
      {},
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided',
    ],
    [
      'another uid in a namespace precondition',
      '/api/v1/namespaces/default',
      { method: 'DELETE', body: { preconditions: { resourceVersion: 'x' } } },
      409,
      'Operation cannot be fulfilled on namespaces "default": Precondition failed: ResourceVersion in precondition: x, ResourceVersion in object meta: RV',
    ],
    [
      'a deletecollection with an invalid selector',
      `${core}/configmaps?labelSelector=a,`,
      { method: 'DELETE', body: { kind: 'Pod', apiVersion: 'v1' } },
      400,
      "found '', expected: identifier after ','",
    ],
    [
      'an empty protobuf body',
      `${core}/configmaps`,
      { method: 'POST', headers: type('application/vnd.kubernetes.protobuf') },
      400,
      'the object provided is unrecognized (must be of type ConfigMap): empty data (<empty>)',
    ],
    [
      'a patch that removes the metadata',
      '/api/v1/namespaces/default',
      { method: 'PATCH', headers: strategic, body: { $patch: 'replace' } },
      400,
      'the name of the object (default based on URL) was undeterminable: name must be provided',
    ],
    [
      'a patch with a number that is too large',
      `${core}/configmaps/odd`,
      { method: 'PATCH', headers: merge, body: '{"data":{"a":1e400}}' },
      400,
      'error decoding patch: json: cannot unmarshal number 1e400 into Go value of type float64',
    ],
    [
      'a number that is too large',
      `${core}/configmaps`,
      { body: '{"metadata":{"name":"x"},"data":{"a":1e400}}' },
      400,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    [
      'a number that is too large for an integer',
      `${core}/replicationcontrollers`,
      { body: '{"spec":{"template":{"metadata":{"generation":1e400}}}}' },
      400,
      'ReplicationController in version "v1" cannot be handled as a ReplicationController: json: cannot unmarshal number 1e400 into Go struct field ObjectMeta.spec.template.metadata.generation of type int64',
    ],
    [
      'an invalid count of a DaemonSet',
      `${apps}/daemonsets${dry}`,
      {
        body: { ...daemonSet, metadata: { name: 'other', annotations: { 'deprecated.daemonset.template.generation': 'abc' } } },
      },
      400,
      'DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: parsing "abc": invalid syntax',
    ],
    [
      'a resourceVersion on create',
      `${core}/configmaps`,
      { body: { metadata: { name: 'other', resourceVersion: '1' } } },
      500,
      'resourceVersion should not be set on objects to be created',
    ],
    [
      'a budget without a name and with another error',
      `/apis/policy/v1/namespaces/default/poddisruptionbudgets`,
      { body: { spec: { unhealthyPodEvictionPolicy: 'x' } } },
      422,
      'PodDisruptionBudget.policy "" is invalid: spec.unhealthyPodEvictionPolicy: Unsupported value: "x": supported values: "AlwaysAllow", "IfHealthyBudget"',
    ],
    [
      'an operator of a Go type, which is shown as JSON',
      `${core}/pods${dry}`,
      {
        body: {
          metadata: { name: 'odd' },
          spec: {
            containers: [{ name: 'c', image: 'i', resources: { requests: { '<': '1' } } }],
            affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [selectedBy('>')] } },
          },
        },
      },
      422,
      String.raw`Pod "odd" is invalid: [spec.containers[0].resources.requests[<]: Invalid value: "\u003c": ${qualified}, spec.containers[0].resources.requests[<]: Invalid value: "\u003c": must be a standard resource for containers, spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchExpressions[0].operator: Invalid value: "\u003e": not a valid selector operator]`,
    ],
    [
      'a secret type of a Go type',
      `${core}/secrets/typed${dry}`,
      { method: 'PATCH', headers: merge, body: { type: 'a&b' } },
      422,
      String.raw`Secret "typed" is invalid: type: Invalid value: "a\u0026b": field is immutable`,
    ],
    [
      'another spec of a mandatory level, whose fields have the names of Go',
      `/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/exempt`,
      {
        method: 'PUT',
        body: {
          metadata: { name: 'exempt' },
          spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } },
        },
      },
      422,
      `PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io "exempt" is invalid: [spec.type: Invalid value: "Limited": must be 'Exempt' if and only if ${'`name`'} is 'exempt', spec: Invalid value: {"Type":"Limited","Limited":{"NominalConcurrencyShares":1,"LimitResponse":{"Type":"Reject","Queuing":null},"LendablePercent":0,"BorrowingLimitPercent":null},"Exempt":null}: spec of 'exempt' except the 'spec.exempt' field must equal the fixed value]`,
    ],
    [
      "a webhook without its service's namespace",
      `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations`,
      {
        body: {
          metadata: { name: 'odd', finalizers: ['any'] },
          webhooks: [
            {
              name: 'a.b.c',
              sideEffects: 'None',
              admissionReviewVersions: ['v1'],
              clientConfig: { service: { name: 's', namespace: '' } },
            },
          ],
        },
      },
      422,
      'ValidatingWebhookConfiguration.admissionregistration.k8s.io "odd" is invalid: webhooks[0].clientConfig.service.name: Required value',
    ],
  ])('%s', async (_, path, request, code, message) => {
    const found = await answer(path, request);
    expect({ code: found.code, message: found.message?.replace(/object meta: \d+/, 'object meta: RV') }).toEqual({ code, message });
  });

  it('an update and an apply that create ignore a resourceVersion', async () => {
    const lease = { metadata: { name: 'odd', resourceVersion: '5' }, spec: {} };
    const path = '/apis/coordination.k8s.io/v1/namespaces/default/leases/odd';
    const put = await answer(path, { method: 'PUT', body: lease });
    expect(put).toMatchObject({ code: 201 });
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied', resourceVersion: '5' } };
    const applied = await answer(`${core}/configmaps/applied?fieldManager=a`, { method: 'PATCH', headers: apply, body });
    expect(applied).toMatchObject({ code: 201 });
    for (const { metadata } of [put, applied]) expect(Number(metadata?.resourceVersion)).toBeGreaterThan(5);
  });

  it('an invalid resourceVersion is ignored, and a dry run returns it', async () => {
    const body = { metadata: { name: 'other', resourceVersion: 'x' } };
    expect(await answer(`${core}/configmaps${dry}`, { body })).toMatchObject({ code: 201, metadata: { resourceVersion: 'x' } });
    expect((await answer(`${core}/configmaps`, { body })).code).toBe(201);
  });

  it.each([
    ['replicationcontrollers', core, controller],
    ['statefulsets', apps, statefulSet],
  ])('%s that are PUT as created keep their generation', async (resource, base, body) => {
    const found = await answer(`${base}/${resource}/odd`, { method: 'PUT', body });
    expect(found).toMatchObject({ code: 200, metadata: { generation: 1 } });
  });

  it('a pointer to an empty value is a change', async () => {
    const body = { spec: { template: { spec: { securityContext: { seLinuxOptions: {} } } } } };
    const found = await answer(`${core}/replicationcontrollers/odd${dry}`, { method: 'PATCH', headers: merge, body });
    expect(found).toMatchObject({ code: 200, metadata: { generation: 2 } });
  });

  it('the template generation annotation of a DaemonSet is owned by its creator', async () => {
    const { metadata } = await answer(`${apps}/daemonsets/odd`);
    expect(metadata?.managedFields?.[0]?.fieldsV1['f:metadata']).toEqual({
      'f:annotations': { '.': {}, 'f:deprecated.daemonset.template.generation': {} },
    });
  });

  it("managed fields contain the members of a volume's claimRef", async () => {
    const body = {
      metadata: { name: 'odd' },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' }, claimRef: { name: 'b' } },
    };
    const { metadata } = await answer(`/api/v1/persistentvolumes${dry}`, { body });
    expect(metadata?.managedFields?.[0]?.fieldsV1['f:spec']).toMatchObject({ 'f:claimRef': { '.': {}, 'f:name': {} } });
  });

  it('empty managedFields are removed', async () => {
    const body = { metadata: { managedFields: [] } };
    const { metadata } = await answer(`${core}/replicationcontrollers/odd${dry}`, { method: 'PATCH', headers: merge, body });
    expect(metadata?.managedFields).toBeUndefined();
  });

  it('an applied event requires no time', async () => {
    const found = await answer(`${core}/events/odd?fieldManager=m&force=true`, { method: 'PATCH', headers: apply, body: event });
    expect(found.code).toBe(200);
  });

  it('integers of applied configurations are truncated', async () => {
    const path = `${core}/services/odd${dry}&fieldManager=m`;
    const body = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'odd' }, spec: { ports: [{ port: 4294967376 }] } };
    expect(await answer(path, { method: 'PATCH', headers: apply, body })).toMatchObject({ code: 201, spec: { ports: [{ port: 80 }] } });
  });

  it.each([
    [merge, { kind: null }, 200],
    [type('application/json-patch+json'), [{ op: 'remove', path: '/kind' }], 200],
    [merge, { apiVersion: null }, 400],
    [merge, { kind: 'Pod' }, 422],
  ])('a patch of the kind: %j %j', async (headers, body, code) => {
    expect((await answer(`${core}/configmaps/odd${dry}`, { method: 'PATCH', headers, body })).code).toBe(code);
  });

  it('a review of an unknown token returns the sent status without authenticated', async () => {
    const body = { spec: { token: 'none' }, status: { authenticated: true, audiences: ['a'], user: { username: 'b' } } };
    const found = await answer('/apis/authentication.k8s.io/v1/tokenreviews', { body });
    expect(found).toMatchObject({ status: { audiences: ['a'], user: { username: 'b' } } });
    expect(found).not.toHaveProperty('status.authenticated');
  });

  it('empty endpoint hints are a change', async () => {
    const slice = { metadata: { name: 'odd' }, addressType: 'IPv4', endpoints: [{ addresses: ['10.1.2.3'] }] };
    const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
    expect((await answer(path, { body: slice })).code).toBe(201);
    const body = { endpoints: [{ addresses: ['10.1.2.3'], hints: {} }] };
    expect(await answer(`${path}/odd`, { method: 'PATCH', headers: merge, body })).toMatchObject({ metadata: { generation: 2 } });
  });

  it('the names of policy bindings are validated on update as on create', async () => {
    const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
    const binding = { metadata: { name: 'odd' }, spec: { policyName: 'p', validationActions: ['Deny'] } };
    expect((await answer(path, { body: binding })).code).toBe(201);
    const body = { metadata: { generateName: 'system:foo' } };
    expect((await answer(`${path}/odd${dry}`, { method: 'PATCH', headers: merge, body })).code).toBe(422);
  });

  it('a number that is too large is accepted in unknown and quantity fields', async () => {
    const body = '{"metadata":{"name":"odd"},"spec":{"hard":{"example.com/a":1e400},"none":1e400}}';
    expect((await answer(`${core}/resourcequotas`, { body })).code).toBe(201);
  });

  it('an invalid TLS key pair causes a warning', async () => {
    const body = { metadata: { name: 'odd' }, type: 'kubernetes.io/tls', data: { 'tls.crt': 'QQ==', 'tls.key': 'QQ==' } };
    const { code, warning } = await answer(`${core}/secrets${dry}`, { body });
    expect({ code, warning }).toEqual({ code: 201, warning: '299 - "tls: failed to find any PEM data in certificate input"' });
  });

  it('the error of an invalid merge patch shows the patched members sorted and the others in their order', async () => {
    const { message } = await answer(`${core}/configmaps/odd`, { method: 'PATCH', headers: merge, body: { immutable: 1 } });
    expect(message).toMatch(
      /Invalid value: "\{\\"apiVersion\\":\\"v1\\",\\"immutable\\":1,\\"kind\\":\\"ConfigMap\\",\\"metadata\\":\{\\"name\\":/,
    );
  });

  it('unknown fields of a strategic merge patch are reported in order', async () => {
    const body = { z: 1, b: 1 };
    const { warning } = await answer(`${core}/configmaps/odd${dry}`, { method: 'PATCH', headers: strategic, body });
    expect(warning).toBe(String.raw`299 - "unknown field \"b\"", 299 - "unknown field \"z\""`);
  });

  it('a metadata list has null items instead of an empty list, and malformed query parts are dropped', async () => {
    const found = await answer('/api/v1/namespaces/none/configmaps?labelSelector=%zz', { headers: as('PartialObjectMetadataList') });
    expect(found).toMatchObject({ code: 200, kind: 'PartialObjectMetadataList', items: null });
  });

  it('a watch without a version reports the end of initial events; watches do not support YAML', async () => {
    const watch = `${core}/configmaps?watch=1&timeoutSeconds=1&allowWatchBookmarks=true`;
    expect(await (await cluster.fetch(watch)).text()).toContain('"k8s.io/initial-events-end":"true"');
    expect((await cluster.fetch(watch, { headers: { accept: 'application/yaml' } })).status).toBe(406);
  });

  it.each([
    ['-1', 0],
    ['9223372037', 0],
    ['1', 1],
  ])('timeoutSeconds=%s of a watch is a Go duration, whose overflow is negative; events: %i', async (seconds, count) => {
    const watch = `/api/v1/namespaces?watch=1&fieldSelector=metadata.name=default&timeoutSeconds=${seconds}`;
    const lines = (await (await cluster.fetch(watch)).text()).split('\n');
    expect(lines).toHaveLength(count + 1);
  });

  it.each(['0', '9223372036'])('timeoutSeconds=%s of a watch is the default or long', async (seconds) => {
    const response = await cluster.fetch(`/api/v1/namespaces?watch=1&resourceVersion=0&timeoutSeconds=${seconds}`);
    const reader = response.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    await reader?.cancel();
  });

  it('DELETE has preconditions in its query, but not beside a body; a collection of a revision is of that revision exactly', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    const one = `${path}/conditional`;
    const found = await answer(path, { body: { metadata: { name: 'conditional', labels: { conditional: '' } } } });
    const { uid, resourceVersion } = found['metadata'] as { uid: string; resourceVersion: string };
    const remove = async (target: string, body?: object): Promise<number> =>
      (await cluster.fetch(target, { method: 'DELETE', ...(body && { body }) })).status;
    expect(await remove(`${one}?uid=x`)).toBe(409);
    expect(await remove(`${one}?resourceVersion=1`)).toBe(409);
    expect(await remove(`${path}?labelSelector=conditional&resourceVersion=0`)).toBe(409);
    expect(await remove(`${one}?dryRun=All&uid=${uid}&resourceVersion=${resourceVersion}`)).toBe(200);
    expect(await remove(`${one}?uid=x`, { dryRun: ['All'] })).toBe(200);
    expect(await remove(`${path}?labelSelector=conditional&resourceVersion=${resourceVersion}`)).toBe(200);
    expect((await cluster.fetch(one)).status).toBe(404);
  });

  it('a watch as a list of metadata ends at the first event; a bookmark has its revision in a table without objects, too', async () => {
    const watch =
      '/api/v1/namespaces?watch=1&timeoutSeconds=1&allowWatchBookmarks=true&includeObject=None&fieldSelector=metadata.name=default';
    const text = async (form: string): Promise<string> => (await cluster.fetch(watch, { headers: as(form) })).text();
    expect(await text('PartialObjectMetadataList')).toBe('');
    const rows = (await text('Table'))
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { object: { rows: { object: object | null }[] } }).object.rows[0]?.object);
    expect(rows).toEqual([null, expect.objectContaining({ kind: 'PartialObjectMetadata' })]);
  });

  it('an empty hash of an OpenAPI document is none', async () => {
    const found = await cluster.fetch('/openapi/v3/version?hash=');
    expect(found.status).toBe(200);
  });

  it('token requests of a CSIDriver without serviceAccountTokenInSecrets cause a warning', async () => {
    const body = {
      metadata: { name: 'odd.example.com' },
      spec: { tokenRequests: [{ audience: 'a' }], preventPodSchedulingIfMissing: true },
    };
    const found = await answer(`/apis/storage.k8s.io/v1/csidrivers${dry}`, { body });
    expect(found.warning).toMatch(/spec.serviceAccountTokenInSecrets is unset/);
    expect(found).not.toHaveProperty('spec.preventPodSchedulingIfMissing');
  });
});
