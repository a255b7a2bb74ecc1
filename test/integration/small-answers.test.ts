import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';

/** Responses equal those of kube-apiserver v1.36.3. */
let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster();
});
afterAll(() => cluster[Symbol.asyncDispose]());

interface Reply {
  readonly code?: number;
  readonly message?: string;
  readonly details?: object;
}
const call = async (path: string, options: Parameters<TestCluster['fetch']>[1]): Promise<Reply> =>
  (await (await cluster.fetch(path, options)).json()) as Reply;

describe('expressions of a policy', () => {
  const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All';
  const policy = (spec: object): object => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'x' },
    spec: {
      matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }] },
      ...spec,
    },
  });
  const at = 'ValidatingAdmissionPolicy.admissionregistration.k8s.io "x" is invalid: spec.validations[0].expression: ';

  it('have no variables if the policy defines none', async () => {
    const { message } = await call(path, { body: policy({ validations: [{ expression: 'variables.x == 1' }] }) });
    expect(message).toBe(
      `${at}Invalid value: "variables.x == 1": compilation failed: ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')\n | variables.x == 1\n | ^`,
    );
  });

  it('may name variables in a mutating policy without any', async () => {
    const { matchConstraints } = (policy({}) as { spec: { matchConstraints: object } }).spec;
    const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'variables.x' } }];
    const spec = { matchConstraints, failurePolicy: 'Fail', reinvocationPolicy: 'Never', mutations };
    const body = { metadata: { name: 'x' }, spec };
    const { message } = await call('/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies?dryRun=All', { body });
    expect(message).toContain("<input>:1:10: undefined field 'x'");
  });

  it("have the policy's variables", async () => {
    const variables = [{ name: 'y', expression: '1' }];
    const { message } = await call(path, { body: policy({ variables, validations: [{ expression: 'variables.x == 1' }] }) });
    expect(message).toContain("<input>:1:10: undefined field 'x'");
    const { code } = await call(path, { body: policy({ variables, validations: [{ expression: 'variables.y == 1' }] }) });
    expect(code).toBeUndefined();
  });

  it('that cannot be compiled to a program are an internal error', async () => {
    const reply = await call(path, { body: policy({ validations: [{ expression: 'bool("yes")' }] }) });
    const message = "Internal error: program instantiation failed: type conversion error from 'string' to 'bool'";
    expect(reply).toMatchObject({ code: 422, message: at + message, details: { causes: [{ reason: 'InternalError', message }] } });
  });
});

describe('the uid of a Scale', () => {
  const path = '/apis/apps/v1/namespaces/default/deployments';
  const scale = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'd', namespace: 'default', uid: 'x' },
    spec: { replicas: 2 },
  };
  beforeAll(async () => {
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const body = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
    expect((await cluster.fetch(path, { body })).status).toBe(201);
  });

  it.each([
    ['a merge patch', 'PATCH', 'application/merge-patch+json', ''],
    ['an apply', 'PATCH', 'application/apply-patch+yaml', '?fieldManager=m&force=true'],
  ])('is checked by %s before the store', async (_, method, type, query) => {
    const reply = await call(`${path}/d/scale${query}`, { method, body: scale, headers: { 'content-type': type } });
    expect(reply).toMatchObject({ code: 409, details: { name: 'd', group: 'apps', kind: 'deployments/scale' } });
    expect(reply.message).toMatch(
      /^Operation cannot be fulfilled on deployments\/scale\.apps "d": Precondition failed: UID in precondition: x, UID in object meta: \S+$/,
    );
  });

  it('is checked by the store for PUT', async () => {
    const reply = await call(`${path}/d/scale`, { method: 'PUT', body: scale });
    expect(reply).toMatchObject({ code: 409, details: { kind: 'deployments' } });
    expect(reply.message).toContain('StorageError: invalid object, Code: 4, Key: /registry/deployments/default/d, ');
    const dryRun = await call(`${path}/d/scale?dryRun=All`, { method: 'PUT', body: scale });
    expect(dryRun.message).toContain('StorageError: invalid object, Code: 4, Key: /deployments/default/d, ');
  });
});

describe('a patched kind', () => {
  it.each([
    ['Secret', 'converting (v1.Secret) to (core.ConfigMap): unknown conversion'],
    ['Nothing', 'no kind "Nothing" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"'],
  ])('%s is rejected', async (kind, why) => {
    const path = '/api/v1/namespaces/default/configmaps';
    await cluster.fetch(path, { body: { metadata: { name: 'd' } } });
    const body = [{ op: 'replace', path: '/kind', value: kind }];
    const reply = await call(`${path}/d`, { method: 'PATCH', body, headers: { 'content-type': 'application/json-patch+json' } });
    expect([reply.code, reply.message?.endsWith(`: ${why}`)]).toEqual([422, true]);
  });
});

it.each(['application/yaml', 'application/vnd.kubernetes.protobuf'])('aggregated discovery is available as %s', async (type) => {
  const form = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  for (const path of ['/api', '/apis']) {
    const json = await cluster.fetch(path, { headers: { accept: `application/json;${form}` } });
    const response = await cluster.fetch(path, { headers: { accept: `${type};${form}` } });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, `${type};${form}`]);
    expect(response.headers.get('etag')).toBe(json.headers.get('etag'));
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.toString('latin1', 0, 12)).toBe(type.endsWith('yaml') ? 'apiVersion: ' : 'k8s\0\n/\n\x16apid');
  }
});

it('bytes in an ApplyConfiguration are not a string', async () => {
  const group = '/apis/admissionregistration.k8s.io/v1/';
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
  const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{binaryData: {"k": b"abc"}}' } }];
  const spec = {
    matchConstraints: { resourceRules: rules, objectSelector: { matchLabels: { bytes: 'yes' } } },
    failurePolicy: 'Fail',
    reinvocationPolicy: 'Never',
    mutations,
  };
  const metadata = { name: 'b' };
  for (const [resource, kind, own] of [
    ['mutatingadmissionpolicies', 'MutatingAdmissionPolicy', spec],
    ['mutatingadmissionpolicybindings', 'MutatingAdmissionPolicyBinding', { policyName: 'b' }],
  ] as const) {
    const body = { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata, spec: own };
    expect((await cluster.fetch(group + resource, { body })).status).toBe(201);
  }
  const body = { metadata: { name: 'bytes', labels: { bytes: 'yes' } } };
  const { message } = await call('/api/v1/namespaces/default/configmaps', { body });
  expect(message).toContain(
    'error applying patch: failed to convert patch object to typed object: .binaryData.k: expected string, got &value.valueUnstructured{Value:[]uint8{0x61, 0x62, 0x63}}',
  );
});

describe('metadata.generation of a NetworkPolicy', () => {
  const path = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies';
  const policy = (name: string, spec: object): object => ({ metadata: { name }, spec: { podSelector: {}, ...spec } });

  it.each([
    ['the same', {}, {}, 1],
    ['an empty list instead of none', {}, { ingress: [] }, 2],
    ['null instead of none', {}, { ingress: null }, 1],
    ['none instead of an empty list, which is stored as none', { egress: [] }, {}, 1],
    ['an empty list again', { egress: [] }, { egress: [] }, 2],
    ['an empty list within an item', { ingress: [{}] }, { ingress: [{ from: [] }] }, 2],
    ['an empty map of a selector', {}, { podSelector: { matchLabels: {} } }, 2],
  ])('%s', async (name, before, after, generation) => {
    const id = `p${name.length}`;
    expect((await cluster.fetch(path, { body: policy(id, before) })).status).toBe(201);
    const { metadata } = (await (await cluster.fetch(`${path}/${id}`, { method: 'PUT', body: policy(id, after) })).json()) as {
      metadata: { generation: number; managedFields: { fieldsV1: object }[] };
    };
    expect(metadata.generation).toBe(generation);
    await cluster.fetch(`${path}/${id}`, { method: 'DELETE' });
  });

  it('an empty map of the selector has no owner', async () => {
    const body = policy('owners', { podSelector: { matchLabels: {} } });
    const { metadata } = (await (await cluster.fetch(path, { body })).json()) as { metadata: { managedFields: { fieldsV1: object }[] } };
    expect(metadata.managedFields[0]?.fieldsV1).toEqual({ 'f:spec': { 'f:policyTypes': {} } });
  });
});

describe('a conversion without a client configuration', () => {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All';
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];

  it.each([{}, { conversionReviewVersions: [] }, { conversionReviewVersions: null }])('has no webhook: %j', async (webhook) => {
    const names = { plural: 'zs', kind: 'Z' };
    const spec = { group: 'z.dev', scope: 'Namespaced', names, versions, conversion: { strategy: 'None', webhook } };
    const response = await cluster.fetch(path, { body: { metadata: { name: 'zs.z.dev' }, spec } });
    expect((await response.json()) as object).toHaveProperty('spec.conversion', { strategy: 'None' });
    expect(response.status).toBe(201);
  });
});

it('an empty expression of a DeviceClass fails before its first column', async () => {
  const body = { metadata: { name: 'd' }, spec: { selectors: [{ cel: { expression: '' } }] } };
  const { message } = await call('/apis/resource.k8s.io/v1/deviceclasses', { body });
  expect(message).toContain("compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>'");
});
