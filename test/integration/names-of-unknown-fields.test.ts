import { newDefinition } from '#apiextensions-apiserver/testing/new-definition';
/**
 * Names of unknown fields in warnings: Go quotes those of typed JSON, and only surrounds those of unstructured content. A warning with
 * control characters is dropped. Recorded from kube-apiserver.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';

const group = 'names.example.com';
const definition = newDefinition({
  kind: 'Thing',
  group,
  schema: { type: 'object', properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } } },
});
const things = `/apis/${group}/v1/namespaces/default/things`;
const thing = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' }, spec: {} };
const maps = '/api/v1/namespaces/default/configmaps';
const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } };

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({ objects: [definition, map, thing] });
});
afterAll(() => cluster[Symbol.asyncDispose]());

/** Sends a body and returns the texts of the warnings, unquoted. */
async function warnings(method: string, path: string, type: string, body: unknown): Promise<string[]> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await cluster.fetch(`${path}?dryRun=All`, { method, body: text, headers: { 'content-type': type } });
  expect(response.status, await response.clone().text()).toBeLessThan(300);
  const header = response.headers.get('warning') ?? '';
  return Array.from(header.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g), ([, quoted]) => (quoted as string).replace(/\\(.)/g, '$1'));
}

const merge = 'application/merge-patch+json';
const strategic = 'application/strategic-merge-patch+json';
const created = { ...map, metadata: { name: 'new' } };
const rows: readonly (readonly [key: string, typed: string[], unstructured: string[]])[] = [
  ['x', ['unknown field "x"'], ['unknown field "x"']],
  ['a"b', ['unknown field "a\\"b"'], ['unknown field "a"b"']],
  ['a\\b', ['unknown field "a\\\\b"'], ['unknown field "a\\b"']],
  ['a\nb', ['unknown field "a\\nb"'], []],
  ['\x01', ['unknown field "\\x01"'], []],
];

describe.each(rows)('%j', (key, typed, unstructured) => {
  it('is quoted in typed JSON', async () => {
    expect(await warnings('POST', maps, 'application/json', { ...created, [key]: 1 })).toEqual(typed);
    expect(await warnings('PATCH', `${maps}/a`, merge, { [key]: 1 })).toEqual(typed);
  });

  it('is surrounded by quotation marks in unstructured content', async () => {
    expect(await warnings('PATCH', `${maps}/a`, strategic, { [key]: 1 })).toEqual(unstructured);
    expect(await warnings('POST', things, 'application/json', { ...thing, metadata: { name: 'new' }, [key]: 1 })).toEqual(unstructured);
    expect(await warnings('PATCH', `${things}/a`, merge, { [key]: 1 })).toEqual(unstructured);
  });
});

it.each([
  ['[{"op":"test","path":"/data/k","value":"v","x":1,"x":2}]', ['json patch unknown field "[0].x"']],
  ['[{"op":"test","op":"test","path":"/data/k","value":"v"}]', ['json patch duplicate field "[0].op"']],
  ['[{"x":{"b":1,"b":2},"op":"test","path":"/data/k","value":"v"}]', ['json patch unknown field "[0].x"']],
  ['[{"op":"add","path":"/data/k","value":"v","value":"v"}]', ['json patch duplicate field "[0].value"']],
  ['[{"op":"add","path":"/data","value":{"k":"u","k":"v"}}]', ['json patch duplicate field "[0].value.k"', 'duplicate field "data.k"']],
  // A map that a later operation changes has each key once.
  [
    '[{"op":"add","path":"/data","value":{"k":"u","k":"v"}},{"op":"add","path":"/data/l","value":"l"}]',
    ['json patch duplicate field "[0].value.k"'],
  ],
  ['[{"op":"test","path":"/data","value":{"k":"u","k":"v"}}]', ['json patch duplicate field "[0].value.k"']],
])('the operation %s is reported', async (patch, expected) => {
  expect(await warnings('PATCH', `${maps}/a`, 'application/json-patch+json', patch)).toEqual(expected);
});
