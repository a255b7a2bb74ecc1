// Bodies of the maximum size, each the most expensive of its kind.
import { limitBytes, many } from '../security/longest-turn.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
/** A watch with the current objects that runs for a second. */
const watch = `${configMaps}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1`;
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const pods = '/api/v1/namespaces/default/pods';
const customs = '/apis/example.dev/v1/namespaces/default/things';
const yaml = { 'content-type': 'application/yaml' };

const scrambled = (i) => `${((i * 7_919 + 13) % 1_000_003).toString(36)}x${((i * 104_729) % 999_983).toString(36)}`;
const configMap = (name, rest) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},${rest}}`;
const withMetadata = (name, rest) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}",${rest}}}`;
const pod = (name, spec) => `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"},"spec":{${spec}}}`;
const custom = (name, rest) => `{"apiVersion":"example.dev/v1","kind":"Thing","metadata":{"name":"${name}"},${rest}}`;
const keys = (key, value) => `"data":{${many((i) => `"${key(i)}":"${value}"`)}}`;
const k = (i) => `k${i}`;
const patch = (type, body) => ({ method: 'PATCH', headers: { 'content-type': `application/${type}` }, body });
const container = '"containers":[{"name":"c","image":"i"';

/** Collections of the created objects, except for the deployment. */
export const collections = [configMaps, pods, customs];

/**
 * Cases by name: the path, the request, and the way to create the preceding ConfigMap with the maximum number of keys (by a
 * create or another request).
 */
export const cases = {
  keys: [configMaps, { body: configMap('keys', keys(k, '')) }],
  'scrambled keys': [configMaps, { body: configMap('scrambled', keys(scrambled, '')) }],
  'keys like numbers': [configMaps, { body: configMap('numbers', keys(String, '')) }],
  labels: [configMaps, { body: withMetadata('labels', `"labels":{${many((i) => `"k${i}":""`)}}`) }],
  annotations: [configMaps, { body: withMetadata('annotations', `"annotations":{${many((i) => `"k${i}":""`)}}`) }],
  finalizers: [configMaps, { body: withMetadata('finalizers', `"finalizers":[${many((i) => `"${scrambled(i)}"`)}]`) }],
  owners: [
    configMaps,
    { body: withMetadata('owners', `"ownerReferences":[${many((i) => `{"apiVersion":"v1","kind":"Pod","name":"a","uid":"${i}"}`)}]`) },
  ],
  'unknown fields': [
    configMaps,
    {
      body: configMap(
        'unknown',
        many((i) => `"f${i}":1`),
      ),
    },
  ],
  brackets: [configMaps, { body: '['.repeat(limitBytes) }],
  containers: [pods, { body: pod('containers', `"containers":[${many((i) => `{"name":"${scrambled(i)}","image":"i"}`)}]`) }],
  environment: [pods, { body: pod('environment', `${container},"env":[${many((i) => `{"name":"${scrambled(i)}"}`)}]}]`) }],
  volumes: [pods, { body: pod('volumes', `${container}}],"volumes":[${many((i) => `{"name":"${scrambled(i)}","emptyDir":{}}`)}]`) }],
  'node selector': [pods, { body: pod('selector', `${container}}],"nodeSelector":{${many((i) => `"k${i}":""`)}}`) }],
  'PUT of other values': [`${configMaps}/put`, { method: 'PUT', body: configMap('put', keys(k, 'a')) }, 'put'],
  'PUT of other keys': [
    `${configMaps}/others`,
    {
      method: 'PUT',
      body: configMap(
        'others',
        keys((i) => `j${i}`, ''),
      ),
    },
    'others',
  ],
  'merge patch of one key': [`${configMaps}/one`, patch('merge-patch+json', '{"data":{"z":"1"}}'), 'one'],
  'merge patch that removes': [`${configMaps}/less`, patch('merge-patch+json', `{"data":{${many((i) => `"k${i}":null`)}}}`), 'less'],
  'strategic merge patch of containers': [
    `${deployments}/d`,
    patch(
      'strategic-merge-patch+json',
      `{"spec":{"template":{"spec":{"containers":[${many((i) => `{"name":"c${i}","image":"i"}`, 450_000)}]}}}}`,
    ),
  ],
  'strategic merge patch of one container over and over': [
    `${deployments}/d`,
    patch(
      'strategic-merge-patch+json',
      `{"spec":{"template":{"spec":{"containers":[${many((i) => `{"name":"c","env":[{"name":"e${i}"}]}`, 200_000)}]}}}}`,
    ),
  ],
  'JSON patch of the front of a long list': [
    `${configMaps}/one`,
    patch(
      'json-patch+json',
      `[{"op":"add","path":"/metadata/x","value":[${'1,'.repeat(1_000_000)}1]}${',{"op":"add","path":"/metadata/x/0","value":1}'.repeat(9_990)}]`,
    ),
    'one',
  ],
  apply: [`${configMaps}/applied?fieldManager=m`, patch('apply-patch+yaml', configMap('applied', keys(k, '')))],
  'apply to many keys': [
    `${configMaps}/again?fieldManager=m&force=true`,
    patch('apply-patch+yaml', configMap('again', keys(k, 'a'))),
    'again',
  ],
  'apply again': [
    `${configMaps}/anew?fieldManager=m`,
    patch('apply-patch+yaml', configMap('anew', keys(k, 'a'))),
    { path: `${configMaps}/anew?fieldManager=m`, request: patch('apply-patch+yaml', configMap('anew', keys(k, ''))) },
  ],
  'custom map': [customs, { body: custom('map', `"map":{${many((i) => `"k${i}":"a"`)}}`) }],
  'custom text of a pattern': [customs, { body: custom('text', `"map":{"a":"${'a'.repeat(3_000_000)}b"}`) }],
  'custom fields without a schema': [customs, { body: custom('open', `"open":{${many((i) => `"k${i}":1`)}}`) }],
  'custom fields that are not known': [customs, { body: custom('unknown', `"list":[${many((i) => `{"b":${i}}`)}]`) }],
  'YAML of keys': [
    configMaps,
    { headers: yaml, body: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata: {${many((i) => `k${i}: ""`)}}` },
  ],
  'deletion of keys': [`${configMaps}/deleted`, { method: 'DELETE' }, 'deleted'],
  'Table of keys': [`${configMaps}/table`, { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } }, 'table'],
  'list by a label': [`${configMaps}?labelSelector=a`, {}, 'listed'],
  'list as a Table': [configMaps, { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } }, 'listed'],
  'list as protobuf': [configMaps, { headers: { accept: 'application/vnd.kubernetes.protobuf' } }, 'listed'],
  'watch as a Table': [watch, { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } }, 'watched'],
  'watch as protobuf': [watch, { headers: { accept: 'application/vnd.kubernetes.protobuf;stream=watch' } }, 'watched'],
  'keys as YAML': [`${configMaps}/shown`, { headers: { accept: 'application/yaml' } }, 'shown'],
};

/** Sends a request with `client.fetch`, which takes a path and options. Rejects with the response if it failed. */
export async function ask(client, path, request) {
  const response = await client.fetch(path, request);
  const text = await response.text();
  // Objects beyond etcd's limit are rejected after encoding.
  const isTooLarge = /request is too large|send message larger than max/.test(text);
  if (response.status >= 500 && !isTooLarge) throw new Error(`${path}: ${response.status} ${text.slice(0, 500)}`);
}

/** Creates the ConfigMap that a case modifies. */
export const present = (client, what) =>
  typeof what === 'string' ? ask(client, configMaps, { body: configMap(what, keys(k, '')) }) : ask(client, what.path, what.request);

/** Creates the objects that the cases require. */
export async function prepare(client) {
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  await ask(client, deployments, {
    body: {
      metadata: { name: 'd' },
      spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec } },
    },
  });
  const texts = { type: 'string', pattern: '^(a+)+$' };
  const properties = {
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    list: { type: 'array', items: { type: 'object', properties: { a: { type: 'integer' } } } },
    map: { type: 'object', additionalProperties: texts },
  };
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } };
  await ask(client, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: {
      metadata: { name: 'things.example.dev' },
      spec: { group: 'example.dev', scope: 'Namespaced', names: { kind: 'Thing', plural: 'things' }, versions: [version] },
    },
  });
  while ((await client.fetch(customs)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 20));
}
