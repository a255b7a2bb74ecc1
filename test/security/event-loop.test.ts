/**
 * Measures how long bodies of the maximum size block the event loop: the CPU time of the thread between two turns, so that
 * other processes do not count. docs/results/large-bodies.md lists bodies that take longer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestCluster, type TestCluster, type TestRequest } from '#testing/index';
import { longProtobuf } from './long-protobuf.ts';
import { limitBytes, longestTurn, many } from './longest-turn.ts';

const atMostMs = 250;
const configMaps = '/api/v1/namespaces/default/configmaps';

const named = (name: string, rest: string): string => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},${rest}}`;

const deployments = '/apis/apps/v1/namespaces/default/deployments';
const pods = '/api/v1/namespaces/default/pods';
const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const policy = (name: string, rest: string): string =>
  `{"metadata":{"name":"${name}"},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["nodes"]}]},"auditAnnotations":[{"key":"k","valueExpression":"'v'"}],${rest}}}`;
const widgets = '/apis/example.com/v1/namespaces/default/widgets';
const widgetDefinition = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
const serviceAccounts = '/api/v1/namespaces/default/serviceaccounts';
const pod = (name: string, spec: string): string => `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"},"spec":{${spec}}}`;
const container = '"containers":[{"name":"c","image":"i"';
const workload = (labels: string): string =>
  `{"metadata":{"name":"w"},"spec":{"selector":{"matchLabels":{${labels}}},"template":{"metadata":{"labels":{${labels}}},"spec":{${container}}]}}}}`;
const spec = (text: string): string => `{"spec":{${text}}}`;
/** Returns pseudorandom names. */
const scrambled = (i: number): string => ((i * 7_919 + 13) % 1_000_003).toString(36);

const variablesOfContainers = `"containers":[${many((i) => `{"name":"c${i}","image":"i","env":[${Array.from({ length: 100 }, (_, j) => `{"name":"a${j}"}`).join()}]}`, 1_400_000)}]`;

interface Row {
  readonly name: string;
  /** Limit in milliseconds. Default: `atMostMs`. */
  readonly atMost?: number;
  readonly path?: string;
  readonly request: TestRequest;
  /** Body of a ConfigMap to create first, or the request that creates it. */
  readonly before?: string | TestRequest;
}

const apply = (name: string, value: string): TestRequest => ({
  method: 'PATCH',
  headers: { 'content-type': 'application/apply-patch+yaml' },
  body: named(name, `"data":{${many((i) => `"k${i}":"${value}"`)}}`),
});

/** Lists whose items were once compared pairwise, or reported with all others; test/bench/long-lists.mjs covers all lists. */
const lists: readonly Row[] = [
  { name: 'families of a Service', path: 'services', request: { body: spec(`"ipFamilies":[${many((i) => `"x${i}"`)}]`) } },
  { name: 'scopes of a quota', path: 'resourcequotas', request: { body: spec(`"scopes":[${many((i) => `"x${i}"`)}]`) } },
  {
    name: 'constraints of a Pod',
    path: 'pods',
    request: { body: spec(`${container}}],"topologySpreadConstraints":[${many((i) => `{"topologyKey":"x${i}","maxSkew":1}`)}]`) },
  },
  {
    name: 'mounts of a container',
    path: 'pods',
    request: { body: spec(`${container},"volumeMounts":[${many((i) => `{"name":"x${i}","mountPath":"x${i}"}`)}]}]`) },
  },
  {
    name: 'values that are not base64',
    path: 'configmaps',
    request: { body: `{"binaryData":{${many((i) => `"k${i}":"x${i}"`)}}}` },
    // 260 ms on a slow machine: the error names all of them.
    atMost: 400,
  },
  {
    name: 'minutes of a schedule',
    path: '/apis/batch/v1/namespaces/default/cronjobs',
    request: { body: spec(`"schedule":"${many((i) => String(i % 60), 1_400_000)},60 * * * *"`) },
  },
  {
    name: 'usages of a certificate',
    path: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    request: { body: spec(`"usages":[${many((i) => `"x${i}"`)}]`) },
  },
  {
    name: 'topologies of a storage class',
    path: '/apis/storage.k8s.io/v1/storageclasses',
    request: { body: `{"allowedTopologies":[${many(() => '{}')}]}` },
  },
  {
    name: 'addresses of Endpoints',
    path: 'endpoints',
    request: { body: `{"subsets":[{"addresses":[${many(() => '{}')}]}]}` },
  },
];

const scrambledData = (value: string): string => many((i) => `"k${scrambled(i)}":${value}`, limitBytes - 200);

/** Bodies with a wrong value, whose first error is found by reading the keys in another order. */
const wrongValues: readonly { readonly name: string; readonly path: string; readonly request: TestRequest }[] = [
  {
    name: 'a YAML document',
    path: configMaps,
    request: {
      headers: { 'content-type': 'application/yaml' },
      body: `kind: ConfigMap\napiVersion: v1\nmetadata: {name: wrong}\nimmutable: 1\ndata: {${scrambledData(' ""')}}\n`,
    },
  },
  {
    name: 'a merge patch',
    path: `${configMaps}/wrong`,
    request: {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: `{"immutable":1,"data":{${scrambledData('""')}}}`,
    },
  },
  {
    name: 'a merge patch with an unknown list',
    path: `${configMaps}/wrong?fieldValidation=Strict`,
    request: {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: `{"immutable":1,"x":[${many(() => '{"a":1}', 2_000_000)}]}`,
    },
  },
  {
    name: 'a strategic merge patch with many structs',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com',
    request: {
      method: 'PATCH',
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      body: spec(
        `"immutable":0,"group":1,"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"allOf":[${many(() => '{"type":"a"}', 2_000_000)}]}}}]`,
      ),
    },
  },
  {
    name: 'a strategic merge patch of the maximum depth',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com',
    request: {
      method: 'PATCH',
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      body: spec(
        `"immutable":0,"group":1,"versions":[{"name":"v1","schema":{"openAPIV3Schema":${'{"not":'.repeat(4_900)}{}${'}'.repeat(4_900)}}}]`,
      ),
    },
  },
];

const rows: readonly Row[] = [
  {
    name: 'a patch whose error shows a long text',
    path: `${configMaps}/small`,
    // 52 ms; 875 in one turn.
    atMost: 200,
    request: {
      method: 'PATCH',
      headers: { 'content-type': 'application/json-patch+json' },
      body: `[{"op":"add","path":"/kind","value":1},{"op":"add","path":"/x","value":"${'x<'.repeat(limitBytes / 2 - 100)}"}]`,
    },
  },
  ...longProtobuf,
  {
    name: 'the maximum number of owners of a custom resource',
    path: widgets,
    request: {
      body: `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","ownerReferences":[${many(() => '{}', 2_000_000)}]}}`,
    },
  },
  { name: 'objects of the maximum depth', request: { body: named('deep', `"data":${'{"a":'.repeat(9_990)}1${'}'.repeat(9_990)}`) } },
  { name: 'a duplicate key', request: { body: named('same', `"data":{${many(() => '"a":""')}}`) } },
  { name: 'escapes', request: { body: named('escapes', `"data":{"a":"${'\\u003c'.repeat(500_000)}"}`) } },
  { name: 'the maximum number of keys', request: { body: named('keys', `"data":{${many((i) => `"k${i}":""`)}}`) } },
  { name: 'the maximum number of numeric keys', request: { body: named('numbers', `"data":{${many((i) => `"${i}":""`)}}`) } },
  { name: 'the maximum number of labels', request: { body: `{"metadata":{"name":"labels","labels":{${many((i) => `"k${i}":""`)}}}}` } },
  {
    name: 'the maximum number of finalizers',
    request: { body: `{"metadata":{"name":"finalizers","finalizers":[${many((i) => `"a${scrambled(i)}"`)}]}}` },
  },
  {
    name: 'the maximum number of environment variables',
    path: pods,
    request: { body: pod('env', `"containers":[{"name":"c","image":"i","env":[${many((i) => `{"name":"e${scrambled(i)}"}`)}]}]`) },
  },
  {
    name: 'containers that get a token',
    path: pods,
    atMost: 100,
    request: { body: pod('tokens', `"containers":[${many(() => '{}')}]`) },
  },
  {
    name: 'labels in a selector of pods',
    path: deployments,
    atMost: 100,
    request: { body: workload(many((i) => `"k${i}":""`, 1_400_000)) },
  },
  {
    name: 'base64 text',
    request: { body: named('base64', `"binaryData":{"a":"${'LS0t'.repeat(limitBytes / 4 - 30)}"}`) },
    atMost: 100,
  },
  {
    name: 'files of a volume',
    path: pods,
    request: {
      body: pod(
        'files',
        `${container}}],"volumes":[{"name":"v","configMap":{"name":"c","items":[${many((i) => `{"key":"k","path":"p${i}"}`)}]}}]`,
      ),
    },
  },
  {
    name: 'sources of a volume',
    path: pods,
    request: {
      body: pod(
        'sources',
        `${container}}],"volumes":[{"name":"v","projected":{"sources":[${many((i) => `{"secret":{"name":"s","items":[{"key":"k","path":"p${i}"}]}}`)}]}}]`,
      ),
    },
  },
  {
    name: 'empty sources of a volume',
    path: pods,
    // 18 ms; 300 in one turn.
    atMost: 100,
    request: { body: pod('empty-sources', `${container}}],"volumes":[{"name":"v","projected":{"sources":[${many(() => '{}')}]}}]`) },
  },
  {
    name: 'managers of fields',
    request: {
      body: `{"metadata":{"name":"managers","managedFields":[${many(
        (i) => `{"manager":"m${i}","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k${i}":{}}}}`,
      )}]}}`,
    },
  },
  {
    name: 'path elements of a manager',
    request: {
      body: `{"metadata":{"name":"elements","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:x":{${many((i) => `"v:${(i * 7_919) % 1_000_003}":{}`)}}}}]}}`,
    },
  },
  {
    name: 'lists in the items of a list',
    path: pods,
    atMost: 120,
    request: { body: pod('lists', variablesOfContainers) },
  },
  {
    name: 'an apply of lists in the items of a list',
    path: `${pods}/applied-lists?fieldManager=a`,
    atMost: 120,
    request: { ...apply('', ''), body: pod('applied-lists', variablesOfContainers) },
  },
  {
    name: 'an apply of a long list',
    path: `${serviceAccounts}/long?fieldManager=a`,
    request: {
      ...apply('', ''),
      body: `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"long"},"secrets":[${many((i) => `{"name":"s${i}"}`, 1_400_000)}]}`,
    },
  },
  {
    name: 'variables of a policy, each using the previous one',
    path: policies,
    request: {
      body: policy(
        'variables',
        `"variables":[${many((i) => `{"name":"v${i}","expression":"${i === 0 ? '1' : `variables.v${i - 1} + 1`}"}`)}]`,
      ),
    },
  },
  {
    name: 'validations of a policy',
    path: policies,
    request: { body: policy('validations', `"validations":[${many((i) => `{"expression":"object.metadata.name != 'x${i}'"}`)}]`) },
  },
  { name: 'brackets', request: { body: '['.repeat(limitBytes) } },
  { name: 'a number with many digits', request: { body: named('digits', `"data":{"a":${'9'.repeat(limitBytes - 100)}}`) } },
  {
    name: 'a patch with copy operations',
    path: `${configMaps}/small`,
    request: {
      method: 'PATCH',
      headers: { 'content-type': 'application/json-patch+json' },
      body: `[${Array.from({ length: 9_999 }, (_, i) => `{"op":"copy","from":"/data","path":"/data/k${i}"}`).join()}]`,
    },
  },
  {
    name: 'a patch that copies a nested list into itself',
    path: `${configMaps}/small`,
    request: {
      method: 'PATCH',
      headers: { 'content-type': 'application/json-patch+json' },
      body: `[{"op":"add","path":"/x","value":{"y":${'['.repeat(8_000)}${']'.repeat(8_000)}}}${',{"op":"copy","from":"/x","path":"/x/y/-"}'.repeat(20)}]`,
    },
  },
  {
    name: 'a patch with operations at the start of a long list',
    path: `${configMaps}/small`,
    request: {
      method: 'PATCH',
      headers: { 'content-type': 'application/json-patch+json' },
      body: `[{"op":"add","path":"/metadata/x","value":[${many(() => '1', 2_000_000)}]}${',{"op":"add","path":"/metadata/x/0","value":1}'.repeat(9_990)}]`,
    },
  },
  {
    name: 'a patch of the scale with operations at the start of a long list',
    path: `${deployments}/d/scale`,
    request: {
      method: 'PATCH',
      headers: { 'content-type': 'application/json-patch+json' },
      body: `[{"op":"add","path":"/metadata/x","value":[${many(() => '1', 2_000_000)}]}${',{"op":"add","path":"/metadata/x/0","value":1}'.repeat(3_000)}]`,
    },
  },
  {
    name: 'a patch of the scale with the maximum number of labels',
    path: `${deployments}/d/scale`,
    // 290 ms on a busy machine; several seconds in one turn.
    atMost: 600,
    request: {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: `{"metadata":{"labels":{${many((i) => `"k${i}":""`)}}}}`,
    },
  },
  {
    name: 'an apply of the scale with the maximum number of labels',
    path: `${deployments}/d/scale?fieldManager=a`,
    request: {
      method: 'PATCH',
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d","labels":{${many((i) => `"k${i}":""`)}}},"spec":{"replicas":1}}`,
    },
  },
  ...(['label', 'field'] as const).map((kind) => ({
    name: `a review of a raw ${kind} selector`,
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    request: {
      body: spec(
        `"user":"u","resourceAttributes":{"verb":"list","resource":"pods","${kind}Selector":{"rawSelector":"${many((i) => `a!=${i}`)}"}}`,
      ),
    },
  })),
  {
    name: 'a strategic merge patch that repeats one container',
    path: `${deployments}/d`,
    request: {
      method: 'PATCH',
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      body: `{"spec":{"template":{"spec":{"containers":[${many((i) => `{"name":"c","env":[{"name":"e${i}"}]}`, 200_000)}]}}}}`,
    },
  },
  {
    name: 'a strategic merge patch that deletes from a long list',
    path: `${deployments}/d`,
    request: {
      method: 'PATCH',
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      body: `{"spec":{"template":{"spec":{"volumes":[${many((i) => `{"$patch":"delete","name":"w${i}"}`, 2_000_000)}]}}}}`,
    },
  },
  {
    name: 'an apply with other values for the maximum number of keys',
    path: `${configMaps}/applied?fieldManager=m`,
    request: apply('applied', 'a'),
    before: apply('applied', ''),
  },
  {
    name: 'the deletion of the maximum number of keys',
    path: `${configMaps}/deleted`,
    request: { method: 'DELETE' },
    before: named('deleted', `"data":{${many((i) => `"k${i}":""`)}}`),
  },
  {
    name: 'a list that selects it by a label',
    path: `${configMaps}?labelSelector=a`,
    request: {},
    before: named('selected', `"data":{${many((i) => `"k${i}":""`)}}`),
  },
  {
    name: 'a watch that returns it as a Table',
    path: `${configMaps}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1`,
    request: { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } },
    before: named('watched', `"data":{${many((i) => `"k${i}":""`)}}`),
  },
  {
    name: 'a deletecollection with such an object',
    request: { method: 'DELETE' },
    before: named('collected', `"data":{${many((i) => `"k${i}":""`)}}`),
  },
];

describe('a body of 3 MiB blocks other clients only briefly:', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster({ flags: ['--enable-admission-plugins=ServiceAccount'] });
    await cluster.fetch(serviceAccounts, { body: { metadata: { name: 'default' } } });
    await cluster.fetch(configMaps, { body: { metadata: { name: 'small' }, data: { a: '1' } } });
    const volumes = Array.from({ length: 20_000 }, (_, i) => ({ name: `v${i}`, emptyDir: {} }));
    const spec = { containers: [{ name: 'c', image: 'i' }], volumes };
    const template = { metadata: { labels: { a: 'b' } }, spec };
    const made = await cluster.fetch(deployments, {
      body: { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } },
    });
    expect(made.status).toBe(201);
    await cluster.fetch('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: widgetDefinition });
    await vi.waitFor(async () => expect((await cluster.fetch(widgets)).status).toBe(200));
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it.each(rows)('$name', { timeout: 120_000 }, async ({ path = configMaps, request, before, atMost = atMostMs }) => {
    const turn = await longestTurn(async () => {
      if (before)
        await (await (typeof before === 'string' ? cluster.fetch(configMaps, { body: before }) : cluster.fetch(path, before))).text();
      const response = await cluster.fetch(path, request);
      await response.text();
    }, atMost);
    expect(turn).toBeLessThan(atMost);
  });

  it.each(lists)('the maximum number of $name', { timeout: 120_000 }, async ({ path = '', request, atMost = atMostMs }) => {
    const collection = path.startsWith('/') ? path : `/api/v1/namespaces/default/${path}`;
    const turn = await longestTurn(async () => {
      const response = await cluster.fetch(collection, { ...request, body: `{"metadata":{"name":"a"},${String(request.body).slice(1)}` });
      expect(response.status).toBeOneOf([400, 422]);
      await response.text();
    }, atMost);
    expect(turn).toBeLessThan(atMost);
  });

  it('the maximum number of keys with a wrong value', { timeout: 120_000 }, async () => {
    expect((await cluster.fetch(configMaps, { body: { metadata: { name: 'wrong' } } })).status).toBe(201);
    for (const { name, path, request } of wrongValues) {
      const turn = await longestTurn(async () => {
        const response = await cluster.fetch(path, request);
        expect([response.status, await response.text()]).toEqual([expect.toBeOneOf([400, 422]), expect.stringContaining('immutable')]);
      }, atMostMs);
      expect(turn, name).toBeLessThan(atMostMs);
    }
    expect((await cluster.fetch(`${configMaps}/wrong`, { method: 'DELETE' })).status).toBe(200);
  });

  it('a policy with the maximum number of expressions is compiled and evaluated while yielding to other clients', {
    timeout: 120_000,
  }, async () => {
    const validations = many((i) => `{"expression":"object.metadata.name != 'n${i}'"}`, 1_300_000);
    const body = policy('all', `"validations":[${validations}]`).replace('"nodes"', '"configmaps"');
    const binding = { metadata: { name: 'all' }, spec: { policyName: 'all', validationActions: ['Deny'] } };
    const bindings = `${policies.replace('policies', 'policybindings')}`;
    expect((await cluster.fetch(bindings, { body: binding })).status).toBe(201);
    const turn = await longestTurn(async () => {
      expect((await cluster.fetch(policies, { method: 'POST', body })).status).toBe(201);
      // The policy is not compiled yet: the request waits for it and is then denied.
      const denied = await cluster.fetch(configMaps, { body: { metadata: { name: 'n7' } } });
      expect(denied.status).toBe(422);
      expect(await denied.text()).toContain("failed expression: object.metadata.name != 'n7'");
      expect((await cluster.fetch(configMaps, { body: { metadata: { name: 'other' } } })).status).toBe(201);
      expect((await cluster.fetch(`${configMaps}/other`, { method: 'DELETE' })).status).toBe(200);
      await (await cluster.fetch(`${policies}/all`, { method: 'DELETE' })).text();
    }, atMostMs);
    expect(turn).toBeLessThan(atMostMs);
    expect((await cluster.fetch(`${bindings}/all`, { method: 'DELETE' })).status).toBe(200);
  });

  it('aborts a validation at the deadline of the request', { timeout: 120_000 }, async () => {
    const variables = many((i) => `{"name":"v${i}","expression":"1"}`);
    const response = await cluster.fetch(`${policies}?timeout=200ms`, {
      method: 'POST',
      body: policy('late', `"variables":[${variables}]`),
    });
    expect(response.status).toBe(504);
    await response.text();
    // Its current step and garbage collection end in the first second. The whole validation takes longer than both.
    await sleep(1_000);
    expect(await threadTime(() => sleep(1_000))).toBeLessThan(500);
  });

  it('aborts a patch at the deadline of the request', { timeout: 120_000 }, async () => {
    const containers = many((i) => `{"name":"c","env":[{"name":"e${i}"}]}`, 2_000_000);
    const response = await cluster.fetch(`${deployments}/d?timeout=1s`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      body: `{"spec":{"template":{"spec":{"containers":[${containers}]}}}}`,
    });
    expect(response.status).toBe(504);
    await response.text();
    const left = await threadTime(() => sleep(1_000));
    expect(left).toBeLessThan(500);
  });
});

/** Returns the CPU milliseconds of this thread during the work. */
async function threadTime(work: () => Promise<unknown>): Promise<number> {
  const began = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(began);
  return (user + system) / 1_000;
}
