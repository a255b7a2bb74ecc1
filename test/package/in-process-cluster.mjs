// Uses an in-process cluster like a test does: without a port, and over HTTPS. Prints the results. Copied to the project in
// which the package is installed.
import { request } from 'node:https';
import { startTestCluster } from 'kubenest/testing';

const schema = {
  openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer', default: 3 } } } } },
};
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema }],
  },
};
const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: {} };

await using cluster = await startTestCluster({ listen: true, objects: [definition, widget], users: [{ name: 'jane' }] });
const { spec } = await (await cluster.fetch('/apis/example.com/v1/namespaces/default/widgets/a')).json();
console.log('in process', spec.size, (await cluster.fetch('/api/v1/secrets', { as: 'jane' })).status);

/** Sends a request over a new connection. Resolves to the response before its body. */
function ask(path, { method = 'GET', body, type = 'application/json' } = {}) {
  const headers = { authorization: `Bearer ${cluster.token('admin')}`, 'content-type': type };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, cluster.url), { method, headers, ca: cluster.certificateAuthority, agent: false }, resolve);
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const maps = '/api/v1/namespaces/default/configmaps';
const watch = await ask(`${maps}?watch=true`);
const event = new Promise((resolve) => watch.once('data', (data) => resolve(JSON.parse(String(data)))));
const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { k: 'v' } };
const answer = await ask(`${maps}/m?fieldManager=test`, { method: 'PATCH', body: applied, type: 'application/apply-patch+yaml' });
answer.resume();
const { type, object } = await event;
console.log('over https', answer.statusCode, type, object.data.k);
watch.destroy();
