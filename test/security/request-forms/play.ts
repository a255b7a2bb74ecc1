import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FormRequest, objectName, otherNamespace, ownNamespace, type ServedResource } from './forms.ts';

/** A server and the bearer tokens of the two users. */
export interface Target {
  readonly port: number;
  readonly tokens: Readonly<Record<FormRequest['user'], string>>;
}

interface Sent {
  readonly status: number;
  readonly text: string;
}

const contentTypes: Readonly<Record<string, string>> = { PATCH: 'application/merge-patch+json' };

/** Sends a request unmodified; of a stream or a watch only the status is read. */
function send(port: number, agent: Agent, token: string, method: string, path: string, body?: unknown): Promise<Sent> {
  const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body));
  const headers: Record<string, string> = { authorization: `Bearer ${token}`, accept: 'application/json' };
  if (bytes.length > 0)
    Object.assign(headers, { 'content-type': contentTypes[method] ?? 'application/json', 'content-length': String(bytes.length) });
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent, rejectUnauthorized: false }, (response) => {
      const status = response.statusCode ?? 0;
      let text = '';
      const isStream = response.headers['transfer-encoding'] === 'chunked' && /[?&/]watch/.test(path);
      response.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
      response.on('error', () => resolve({ status, text }));
      response.on('end', () => resolve({ status, text }));
      if (!isStream) return;
      resolve({ status, text });
      response.destroy();
    });
    sent.on('error', reject);
    sent.end(bytes);
  });
}

/** Returns the JSON response to a request of the administrator, which must succeed. */
async function ask<T>({ port, tokens }: Target, agent: Agent, method: string, path: string, body?: unknown): Promise<T> {
  const { status, text } = await send(port, agent, tokens.admin, method, path, body);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
  return JSON.parse(text) as T;
}

function definition(plural: string, kind: string, scope: 'Namespaced' | 'Cluster'): object {
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { replicas: { type: 'integer' } } },
        status: { type: 'object', properties: { replicas: { type: 'integer' } } },
      },
    },
  };
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.forms.example.com` },
    spec: {
      group: 'forms.example.com',
      scope,
      names: { plural, kind, singular: kind.toLowerCase() },
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {}, scale } }],
    },
  };
}

/** The custom kinds; one has the same plural as namespaces. */
const kinds = [
  ['widgets', 'Widget', 'Namespaced'],
  ['gadgets', 'Gadget', 'Cluster'],
  ['namespaces', 'Namespace', 'Cluster'],
] as const;

/** Waits until a new definition is served. */
async function untilServed(make: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await make();
      return;
    } catch (error) {
      if (attempt === 50) throw error;
      await sleep(200);
    }
  }
}

/** Creates the two namespaces, custom resources, the user's role binding, and one object of some kinds in each namespace. */
export async function prepare(target: Target): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const make = (path: string, body: object): Promise<unknown> => ask(target, agent, 'POST', path, body);
  for (const name of [ownNamespace, otherNamespace]) {
    await make('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const metadata = { name: objectName };
    const ports = [{ port: 80 }];
    const containers = [{ name: 'c', image: 'i' }];
    await make(`/api/v1/namespaces/${name}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await make(`/api/v1/namespaces/${name}/secrets`, { apiVersion: 'v1', kind: 'Secret', metadata });
    await make(`/api/v1/namespaces/${name}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
    await make(`/api/v1/namespaces/${name}/services`, { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports } });
    await make(`/api/v1/namespaces/${name}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { containers, serviceAccountName: objectName, automountServiceAccountToken: false },
    });
  }
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'one-namespace' }];
  await make(`/apis/rbac.authorization.k8s.io/v1/namespaces/${ownNamespace}/rolebindings`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'all' },
    roleRef,
    subjects,
  });
  await make('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: objectName } });
  for (const [plural, kind, scope] of kinds)
    await make('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition(plural, kind, scope));
  for (const [plural, kind] of kinds) {
    const list = plural === 'widgets' ? `namespaces/${ownNamespace}/widgets` : plural;
    const body = { apiVersion: 'forms.example.com/v1', kind, metadata: { name: objectName } };
    await untilServed(() => make(`/apis/forms.example.com/v1/${list}`, body));
  }
  agent.destroy();
}

/** Returns all resources of discovery sorted by path, because the order of custom kinds is random. */
export async function discover(target: Target): Promise<ServedResource[]> {
  const agent = new Agent({ keepAlive: true });
  const { groups } = await ask<{ groups: { versions: { groupVersion: string }[] }[] }>(target, agent, 'GET', '/apis');
  const roots = groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => `/apis/${groupVersion}`));
  const found: ServedResource[] = [];
  for (const root of ['/api/v1', ...roots]) {
    const { resources } = await ask<{ resources: { name: string; namespaced: boolean }[] }>(target, agent, 'GET', root);
    for (const { name, namespaced } of resources) {
      if (name.includes('/')) continue;
      const subresources = resources.filter((one) => one.name.startsWith(`${name}/`)).map((one) => one.name.slice(name.length + 1));
      found.push({ root, resource: name, namespaced, subresources });
    }
  }
  agent.destroy();
  const pathOf = ({ root, resource }: ServedResource): string => `${root}/${resource}`;
  return found.sort((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1));
}

/** Returns the status of each request in order. Writes are dry runs, and watches end after a second. */
export async function play({ port, tokens }: Target, requests: readonly FormRequest[]): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const statuses: number[] = new Array(requests.length).fill(0);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < requests.length; at = next++) {
      const { user, method, path } = requests[at]!;
      const body = ['POST', 'PUT', 'PATCH'].includes(method) ? {} : undefined;
      const query = ['GET', 'HEAD', 'OPTIONS'].includes(method) ? '?timeoutSeconds=1&limit=1' : '?dryRun=All&timeoutSeconds=1';
      statuses[at] = (await send(port, agent, tokens[user], method, `${path}${query}`, body)).status;
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  agent.destroy();
  return statuses;
}
