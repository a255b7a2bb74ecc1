import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';

/** A request body. */
type Json = Readonly<Record<string, unknown>>;
/** A response: an object or a Status. */
interface Answered {
  readonly kind: string;
  readonly metadata: { readonly labels?: Json; readonly annotations?: Json };
  readonly data?: Json;
  readonly spec?: { readonly containers: readonly Json[] };
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
}

const registration = 'admissionregistration.k8s.io/v1';
const configMapRule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] };
const made: string[] = [];
let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startTestCluster({
    users: [{ name: 'jane' }],
    objects: [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'limits', namespace: 'default', labels: { role: 'limits' } },
        data: { max: '2' },
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'jane' },
        rules: [
          { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
          { apiGroups: ['admissionregistration.k8s.io'], resources: ['*'], verbs: ['*'] },
        ],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'jane' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'jane' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
      },
    ],
  });
});
afterAll(() => cluster[Symbol.asyncDispose]());
beforeEach(async () => {
  for (const path of made.splice(0)) await cluster.fetch(path, { method: 'DELETE' });
});

async function make(kind: string, resource: string, name: string, spec: Json): Promise<void> {
  const path = `/apis/${registration}/${resource}`;
  const response = await cluster.fetch(path, { body: { apiVersion: registration, kind, metadata: { name }, spec } });
  const answer = (await response.json()) as Answered;
  expect(answer.kind, answer.message).toBe(kind);
  made.push(`${path}/${name}`);
}

/** Creates a policy for config maps by default, and its binding. */
async function validating(name: string, spec: Json, binding: Json = {}): Promise<void> {
  const complete = { matchConstraints: { resourceRules: [configMapRule] }, ...spec };
  await make('ValidatingAdmissionPolicy', 'validatingadmissionpolicies', name, complete);
  const bound = { policyName: name, validationActions: ['Deny'], ...binding };
  await make('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', name, bound);
}

async function mutating(name: string, spec: Json, binding: Json = {}): Promise<void> {
  const complete = { matchConstraints: { resourceRules: [configMapRule] }, reinvocationPolicy: 'Never', ...spec };
  await make('MutatingAdmissionPolicy', 'mutatingadmissionpolicies', name, complete);
  await make('MutatingAdmissionPolicyBinding', 'mutatingadmissionpolicybindings', name, { policyName: name, ...binding });
}

const applying = (expression: string): Json => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const patching = (expression: string): Json => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

async function create(path: string, body: Json, user = 'admin'): Promise<{ readonly answer: Answered; readonly response: Response }> {
  const response = await cluster.fetch(`${path}?dryRun=All`, { body, as: user });
  return { answer: (await response.json()) as Answered, response };
}

const configMap = (data: Json = {}, metadata: Json = {}): Json => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...metadata },
  data,
});
const createMap = (data: Json = {}, metadata: Json = {}, user = 'admin') =>
  create('/api/v1/namespaces/default/configmaps', configMap(data, metadata), user);

describe('validating policies', () => {
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const size = [{ expression: 'size(object.data) <= int(params.data.max)' }];
  const two = { a: '1', b: '2' };
  const three = { ...two, c: '3' };
  const denied = (message: string): RegExp =>
    new RegExp(`^configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: ${message}$`);
  const table: readonly {
    readonly name: string;
    readonly spec: Json;
    readonly binding?: Json;
    readonly data?: Json;
    readonly metadata?: Json;
    readonly user?: string;
    readonly message?: RegExp;
    readonly code?: number;
  }[] = [
    { name: 'a true expression admits', spec: { validations: [{ expression: 'oldObject == null && object.data.a == "1"' }] }, data: two },
    {
      name: 'a message expression, with a variable that uses another one',
      spec: {
        variables: [
          { name: 'n', expression: 'size(object.data)' },
          { name: 'twice', expression: 'variables.n * 2' },
        ],
        validations: [
          { expression: 'variables.twice < 4', messageExpression: '"twice is " + string(variables.twice)', reason: 'Forbidden' },
        ],
      },
      data: two,
      message: denied('twice is 4'),
      code: 403,
    },
    {
      name: 'a failing message expression falls back to the message',
      spec: { validations: [{ expression: 'false', message: ' no ', messageExpression: 'string(object.data.nope)' }] },
      message: denied('no'),
    },
    {
      name: 'the expression is shown if there is no message',
      spec: { validations: [{ expression: ' object.data == null' }] },
      data: two,
      message: denied('failed expression: object.data == null'),
    },
    {
      name: 'a failing expression denies',
      spec: { validations: [{ expression: 'object.data.x == "1"' }] },
      data: two,
      message: denied('expression \'object.data.x == "1"\' resulted in error: no such key: x'),
    },
    {
      name: 'a failing expression is ignored',
      spec: { failurePolicy: 'Ignore', validations: [{ expression: 'object.data.x == "1"' }] },
      data: two,
    },
    {
      name: 'empty maps are absent, as in the JSON of Go',
      spec: { validations: [{ expression: '!has(object.data) && !has(object.metadata.labels)' }] },
      metadata: { labels: {} },
    },
    {
      name: 'a false match condition',
      spec: { matchConditions: [{ name: 'c', expression: 'has(object.data.x)' }], validations: [{ expression: 'false' }] },
      data: two,
    },
    {
      name: 'satisfied parameters',
      spec: { paramKind, validations: size },
      binding: { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } },
      data: two,
    },
    {
      name: 'parameters selected by labels',
      spec: { paramKind, validations: size },
      binding: { paramRef: { selector: { matchLabels: { role: 'limits' } }, parameterNotFoundAction: 'Deny' } },
      data: three,
      message: denied('failed expression: size\\(object.data\\) <= int\\(params.data.max\\)'),
    },
    {
      name: 'missing parameters',
      spec: { paramKind, validations: size },
      binding: { paramRef: { name: 'nope', parameterNotFoundAction: 'Deny' } },
      message: denied('failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction'),
    },
    {
      name: 'missing parameters that are not required',
      spec: { paramKind, validations: size },
      binding: { paramRef: { name: 'nope', parameterNotFoundAction: 'Allow' } },
    },
    {
      name: 'a parameter kind that is not served',
      spec: { paramKind: { apiVersion: 'x.dev/v1', kind: 'Nope' }, validations: size },
      binding: { paramRef: { name: 'nope', parameterNotFoundAction: 'Allow' } },
      message:
        /ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'x.dev\/v1, Kind=Nope'$/,
    },
    {
      name: 'the authorizer',
      spec: {
        validations: [{ expression: 'authorizer.group("").resource("nodes").check("delete").allowed()', message: 'must not delete nodes' }],
      },
      user: 'jane',
      message: denied('must not delete nodes'),
    },
    {
      name: 'the request attributes for the authorizer',
      spec: { validations: [{ expression: 'authorizer.requestResource.check("create").allowed()' }] },
      user: 'jane',
    },
    {
      name: 'the namespace',
      spec: { validations: [{ expression: 'namespaceObject.metadata.name == "default" && request.namespace == "default"' }] },
    },
    {
      name: 'exclude rules',
      spec: {
        matchConstraints: { resourceRules: [configMapRule], excludeResourceRules: [{ ...configMapRule, operations: ['*'] }] },
        validations: [{ expression: 'false' }],
      },
    },
    {
      name: 'another name',
      spec: { matchConstraints: { resourceRules: [{ ...configMapRule, resourceNames: ['b'] }] }, validations: [{ expression: 'false' }] },
    },
    {
      name: 'an object selector that does not match',
      spec: {
        matchConstraints: { resourceRules: [configMapRule], objectSelector: { matchLabels: { x: 'y' } } },
        validations: [{ expression: 'false' }],
      },
    },
    {
      name: 'an object selector that matches',
      spec: {
        matchConstraints: { resourceRules: [configMapRule], objectSelector: { matchLabels: { x: 'y' } } },
        validations: [{ expression: 'false', message: 'x' }],
      },
      metadata: { labels: { x: 'y' } },
      message: denied('x'),
    },
    {
      name: 'an expression beyond the cost limit',
      spec: {
        validations: [
          {
            expression: `${'[0,1,2,3,4,5,6,7,8,9].all(a, '.repeat(1)}${'bcdef'
              .split('')
              .map((v) => `[0,1,2,3,4,5,6,7,8,9].all(${v}, `)
              .join('')}true${')'.repeat(6)}`,
          },
        ],
      },
      message: /operation cancelled: actual cost limit exceeded$/,
    },
  ];

  it.each(table)('$name', async ({ spec, binding, data, metadata, user, message, code }) => {
    await validating('p', spec, binding);
    const { answer, response } = await createMap(data, metadata, user);
    if (message) {
      expect(answer.message).toMatch(message);
      expect(response.status).toBe(code ?? 422);
    } else {
      expect(answer.kind, answer.message).toBe('ConfigMap');
    }
  });

  it('warns', async () => {
    await validating('p', { validations: [{ expression: 'false', message: 'beware' }] }, { validationActions: ['Warn'] });
    const { answer, response } = await createMap();
    expect(answer.kind).toBe('ConfigMap');
    expect(response.headers.get('warning')).toBe(`299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p': beware"`);
  });

  it("counts violations under upstream's metric names", async () => {
    const actions = { validationActions: ['Audit', 'Warn'] };
    await validating('counted', { validations: [{ expression: 'false' }, { expression: 'true' }] }, actions);
    await validating('ignored', { failurePolicy: 'Ignore', validations: [{ expression: 'object.data.missing == "x"' }] });
    await validating('refused', { validations: [{ expression: 'object.data.missing == "x"' }] });
    const { status } = await cluster.fetch('/api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'counted' } } });
    expect(status).toBe(422);
    const text = await (await cluster.fetch('/metrics')).text();
    const counts = text.matchAll(
      /check_total\{enforcement_action="(\w+)",error_type="(\w+)",policy="(counted|ignored|refused)",policy_binding="\w+"\} (\d)/g,
    );
    expect(Array.from(counts, ([, ...values]) => values.join(' ')).sort()).toEqual([
      'allow invalid_error ignored 1',
      'audit invalid_error counted 1',
      'deny invalid_error refused 1',
      'warn invalid_error counted 1',
    ]);
    expect(text).toMatch(/apiserver_validating_admission_policy_check_duration_seconds_count\{.*policy="counted"/);
  });

  it('receives objects in the version of its rule', async () => {
    const rule = { apiGroups: ['autoscaling'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['horizontalpodautoscalers'] };
    const path = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
    const body = {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'a' },
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 3 },
    };
    const validations = [
      {
        expression: 'false',
        messageExpression: 'object.apiVersion + " " + request.resource.version + " " + request.requestResource.version',
      },
    ];
    await validating('p', { matchConstraints: { resourceRules: [rule] }, validations });
    expect((await create(path, body)).answer.message).toMatch(/autoscaling\/v1 v1 v2$/);
    await validating('exact', { matchConstraints: { resourceRules: [rule], matchPolicy: 'Exact' }, validations });
    await cluster.fetch(made[0]!, { method: 'DELETE' });
    expect((await create(path, body)).answer.kind).toBe('HorizontalPodAutoscaler');
  });

  it('does not apply to policies themselves', async () => {
    await validating('p', {
      matchConstraints: { resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }] },
      validations: [{ expression: 'false' }],
    });
    expect((await cluster.fetch(made[1]!, { method: 'DELETE' })).status).toBe(200);
    made.splice(1, 1);
  });
});

describe('parameters', () => {
  it.each(['validating', 'mutating'])('can be referred to in %s policies only by users who can read them', async (sort) => {
    const kind = sort === 'validating' ? 'ValidatingAdmissionPolicy' : 'MutatingAdmissionPolicy';
    const rest =
      sort === 'validating'
        ? { validations: [{ expression: 'true' }] }
        : { mutations: [applying('Object{}')], reinvocationPolicy: 'Never' };
    const spec = { matchConstraints: { resourceRules: [configMapRule] }, paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, ...rest };
    const policy = { apiVersion: registration, kind, metadata: { name: 'p' }, spec };
    const { answer } = await create(`/apis/${registration}/${sort}admissionpolicies`, policy, 'jane');
    expect(answer.message).toMatch(
      /spec.paramKind: Forbidden: user &\{jane {2}\[system:authenticated\] map\[\]\} must have "get" permission on all objects of the referenced paramKind \(kind=ConfigMap, apiVersion=v1\)$/,
    );
    expect((await create(`/apis/${registration}/${sort}admissionpolicies`, policy)).answer.kind).toBe(kind);
    const paramRef = { name: 'limits', namespace: 'default', parameterNotFoundAction: 'Deny' };
    const actions = sort === 'validating' && { validationActions: ['Deny'] };
    const binding = {
      apiVersion: registration,
      kind: `${kind}Binding`,
      metadata: { name: 'p' },
      spec: { policyName: 'p', paramRef, ...actions },
    };
    const refused = await create(`/apis/${registration}/${sort}admissionpolicybindings`, binding, 'jane');
    expect(refused.answer.message).toMatch(/spec.paramRef: Forbidden: unable to get policy p to determine minimum required permissions/);
  });
});

describe('mutating policies', () => {
  it('applies configurations and patches sequentially', async () => {
    await mutating('m', {
      mutations: [
        applying('Object{metadata: Object.metadata{labels: {"added": "yes"}}}'),
        patching('[JSONPatch{op: "add", path: "/data/" + jsonpatch.escapeKey("l"), value: string(object.metadata.labels.added)}]'),
      ],
    });
    const { answer } = await createMap({ k: 'v' }, { labels: { own: '1' } });
    expect(answer.message).toBeUndefined();
    expect(answer).toMatchObject({ metadata: { labels: { own: '1', added: 'yes' } }, data: { k: 'v', l: 'yes' } });
  });

  it('merges lists by their keys', async () => {
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
    const containers =
      'Object.spec.containers{name: object.spec.containers[0].name, env: [Object.spec.containers.env{name: "A", value: "1"}]}';
    await mutating('m', {
      matchConstraints: { resourceRules: [rule] },
      mutations: [applying(`Object{spec: Object.spec{containers: [${containers}]}}`)],
    });
    const spec = {
      containers: [
        { name: 'c', image: 'i', env: [{ name: 'B', value: '2' }] },
        { name: 'd', image: 'j' },
      ],
    };
    const { answer } = await create('/api/v1/namespaces/default/pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec });
    expect(answer.spec?.containers.map(({ name, image, env }) => ({ name, image, env }))).toEqual([
      {
        name: 'c',
        image: 'i',
        env: [
          { name: 'B', value: '2' },
          { name: 'A', value: '1' },
        ],
      },
      { name: 'd', image: 'j', env: undefined },
    ]);
  });

  const failures: readonly (readonly [string, Json, RegExp])[] = [
    [
      'a type from another position',
      applying('Object{data: Object.foo{a: "b"}}'),
      /type mismatch: unexpected type name "Object.foo", expected "Object.data"/,
    ],
    [
      'an unknown field',
      applying('Object{nope: "x"}'),
      /error applying patch: failed to convert patch object to typed object: \.nope: field not declared in schema$/,
    ],
    ['a patch that does not apply', patching('[JSONPatch{op: "remove", path: "/nope"}]'), /JSON Patch: /],
    ['an expression that fails', applying('Object{data: {"a": object.data.nope}}'), /resulted in error: no such key: nope$/],
  ];
  it.each(failures)('denies for %s', async (_name, mutation, message) => {
    await mutating('m', { mutations: [mutation] });
    const { answer } = await createMap({ k: 'v' });
    expect(answer.message).toMatch(/^policy 'm' with binding 'm' denied request: /);
    expect(answer.message).toMatch(message);
    expect(answer.reason).toBe('Invalid');
    await mutating('ignored', { failurePolicy: 'Ignore', mutations: [mutation] });
    await cluster.fetch(made[0]!, { method: 'DELETE' });
    expect((await createMap({ k: 'v' })).answer.kind).toBe('ConfigMap');
  });

  it('rejects changes of atomic lists', async () => {
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['services'] };
    await mutating('m', {
      matchConstraints: { resourceRules: [rule] },
      mutations: [applying('Object{spec: Object.spec{selector: Object.spec.selector{a: "b"}}}')],
    });
    const body = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } };
    const { answer } = await create('/api/v1/namespaces/default/services', body);
    expect(answer.message).toMatch(/invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: \.spec\.selector$/);
  });

  it('leaves the object unchanged if a test operation fails', async () => {
    await mutating('m', {
      mutations: [patching('[JSONPatch{op: "test", path: "/data/k", value: "x"}, JSONPatch{op: "add", path: "/data/l", value: "m"}]')],
    });
    expect((await createMap({ k: 'v' })).answer.data).toEqual({ k: 'v' });
  });

  it('preserves long integers', async () => {
    const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['controllerrevisions'] };
    const mutations = [patching('[JSONPatch{op: "add", path: "/metadata/labels", value: {"a": "b"}}]')];
    await mutating('m', { matchConstraints: { resourceRules: [rule] }, mutations });
    const body =
      '{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"r"},"data":{"n":9007199254740993,"f":1.50},"revision":9007199254740993}';
    const response = await cluster.fetch('/apis/apps/v1/namespaces/default/controllerrevisions?dryRun=All', { body });
    expect(await response.text()).toMatch(/"labels":\{"a":"b"\}.*"data":\{"n":9007199254740993,"f":1\.50\},"revision":9007199254740993/);
  });

  it('rejects unknown fields added by a patch', async () => {
    await mutating('m', { mutations: [patching('[JSONPatch{op: "add", path: "/nonsense", value: "x"}]')] });
    expect((await createMap({ k: 'v' })).answer.message).toBe('Internal error occurred: strict decoding error: unknown field "nonsense"');
  });

  it('sees neither uid nor creationTimestamp, which only the server sets', async () => {
    const presence = 'string(has(object.metadata.uid)) + string(has(object.metadata.creationTimestamp))';
    await mutating('a', { mutations: [applying(`Object{data: {"presence": ${presence}}}`)] });
    await mutating('b', { mutations: [patching('[JSONPatch{op: "add", path: "/metadata/uid", value: "mine"}]')] });
    const { answer } = await createMap({ k: 'v' });
    expect(answer.data).toEqual({ k: 'v', presence: 'falsefalse' });
    expect(answer.metadata).toMatchObject({
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      creationTimestamp: expect.any(String) as string,
    });
  });

  it('reinvokes a policy even if no other policy changed the object', async () => {
    const longer = applying('Object{data: {"k": object.data.k + "+"}}');
    await mutating('again', { reinvocationPolicy: 'IfNeeded', mutations: [longer] });
    expect((await createMap({ k: 'v' })).answer.data).toEqual({ k: 'v++' });
  });

  it("counts mutations and match conditions under upstream's metric names", async () => {
    await mutating('good', { mutations: [applying('Object{metadata: Object.metadata{labels: {"added": "yes"}}}')] });
    await mutating('wrong', { failurePolicy: 'Ignore', mutations: [patching('[JSONPatch{op: "remove", path: "/none"}]')] });
    // Evaluated twice, because the first policy changes the object.
    const unmet = {
      matchConditions: [
        { name: 'fails', expression: 'object.none == 1' },
        { name: 'no', expression: 'false' },
      ],
    };
    await mutating('unmet', { ...unmet, mutations: [applying('Object{}')] });
    await createMap();
    const text = await (await cluster.fetch('/metrics')).text();
    const counts = text.matchAll(
      /mutating_admission_policy_check_total\{error_type="(\w+)",policy="(good|wrong|unmet)",policy_binding="(\w+)"\} (\d)/g,
    );
    expect(Array.from(counts, ([, ...values]) => values.join(' ')).sort()).toEqual(['invalid_error wrong wrong 1', 'no_error good good 1']);
    expect(text).toMatch(/apiserver_mutating_admission_policy_check_duration_seconds_count\{.*policy="good"/);
    const series = '{kind="policy",name="unmet",operation="CREATE",type="validate"} 2';
    expect(text).toContain(`apiserver_admission_match_condition_evaluation_errors_total${series}`);
    expect(text).toContain(`apiserver_admission_match_condition_evaluation_seconds_count${series}`);
    expect(text).not.toMatch(/match_condition_exclusions_total\{.*name="unmet"/);
  });

  it('reinvokes policies after later ones changed the object', async () => {
    const count = 'Object{metadata: Object.metadata{annotations: {"seen": string(size(object.data))}}}';
    await mutating('a', { reinvocationPolicy: 'IfNeeded', mutations: [applying(count)] });
    await mutating('b', {
      reinvocationPolicy: 'Never',
      mutations: [patching('[JSONPatch{op: "add", path: "/data/x", value: string(size(object.data))}]')],
    });
    const { answer } = await createMap({ k: 'v' });
    expect(answer).toMatchObject({ metadata: { annotations: { seen: '2' } }, data: { k: 'v', x: '1' } });
  });
});
