/** Random requests for a few names and forms, so that later requests meet the effects of earlier ones. */

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: object | undefined;
  readonly contentType: string;
  readonly user: string;
}

/** Returns a seeded generator of numbers below 1 (Mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let next = Math.imul(state ^ (state >>> 15), 1 | state);
    next = (next + Math.imul(next ^ (next >>> 7), 61 | next)) ^ next;
    return ((next ^ (next >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Values of a field, including zero, empty, null and invalid ones. */
const numbers = [0, 1, 3, null, undefined, -1, 'x'];
const quantities = ['0', '1', '100m', '1000m', '1Gi', '0.1', null, 'x', undefined];
const images = ['i', 'i:latest', 'i:1', '', null];
const texts = ['', 'a', 'b', null, undefined];
const maps = [{}, { a: 'b' }, { a: '' }, { a: 'b', c: 'd' }, null, undefined];

const kinds: readonly { readonly path: string; readonly apiVersion: string; readonly kind: string; make(pick: Pick): object }[] = [
  {
    path: '/api/v1/namespaces/default/configmaps',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    make: (pick) => ({ data: pick(maps), immutable: pick([undefined, false, null]) }),
  },
  {
    path: '/apis/apps/v1/namespaces/default/deployments',
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    make: (pick) => ({
      spec: {
        replicas: pick(numbers),
        minReadySeconds: pick(numbers),
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' }, annotations: pick(maps) }, spec: { containers: [container(pick)] } },
      },
    }),
  },
  {
    path: '/api/v1/namespaces/default/pods',
    apiVersion: 'v1',
    kind: 'Pod',
    make: (pick) => ({ spec: { containers: [container(pick)], priority: pick(numbers), nodeSelector: pick(maps) } }),
  },
  {
    path: '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    make: (pick) => ({
      addressType: pick(['IPv4', 'IPv4', '']),
      endpoints: pick([undefined, null, [], [{ addresses: ['10.1.2.3'], conditions: pick([{}, undefined, { ready: true }]) }]]),
      ports: pick([undefined, [], [{ port: pick(numbers), name: pick(texts) }]]),
    }),
  },
  {
    path: '/api/v1/namespaces/default/services',
    apiVersion: 'v1',
    kind: 'Service',
    make: (pick) => ({
      spec: { clusterIP: 'None', ports: [{ port: pick([1, 0, 70_000]), name: pick(texts), nodePort: pick([0, undefined]) }] },
    }),
  },
  {
    path: '/apis/scheduling.k8s.io/v1/priorityclasses',
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    make: (pick) => ({ value: pick([0, 5]), description: pick(texts) }),
  },
  {
    path: '/apis/memo.example.com/v1/namespaces/default/memos',
    apiVersion: 'memo.example.com/v1',
    kind: 'Memo',
    make: (pick) => ({
      spec: { word: pick(texts), count: pick(numbers), list: pick([undefined, [], [1, 2], null]), free: pick([{}, { a: null }, 1]) },
    }),
  },
];

type Pick = <T>(values: readonly T[]) => T;

function container(pick: Pick): object {
  return {
    name: 'c',
    image: pick(images),
    ports: pick([undefined, [], [{ containerPort: pick(numbers) }], [{ containerPort: 1, protocol: pick(['', 'TCP', 'UDP', undefined]) }]]),
    env: pick([undefined, [{ name: 'E', value: pick(texts) }]]),
    resources: pick([undefined, {}, { requests: { cpu: pick(quantities) } }, { limits: { memory: pick(quantities) } }]),
  };
}

/** Returns a request of one of the users `admin` and `jane`. */
export function randomRequest(random: () => number): Sent {
  const pick: Pick = (values) => values[Math.floor(random() * values.length)]!;
  return { ...requestOfAnyUser(pick), user: pick(['admin', 'jane']) };
}

function requestOfAnyUser(pick: Pick): Omit<Sent, 'user'> {
  const { path, apiVersion, kind, make } = pick(kinds);
  const metadata = { name: pick(['one', 'two', 'three']), labels: pick(maps), annotations: pick(maps), finalizers: pick([undefined, []]) };
  const object = { apiVersion, kind, metadata, ...make(pick) };
  const dry = pick(['', '', 'dryRun=All']);
  const manager = pick(['fieldManager=a', 'fieldManager=b']);
  const query = `?${[dry, manager].filter((one) => one !== '').join('&')}`;
  const own = `${path}/${metadata.name}`;
  switch (pick(['create', 'create', 'create', 'update', 'merge', 'apply', 'apply', 'list', 'get', 'delete', 'label'])) {
    case 'create':
      return { method: 'POST', path: path + query, body: object, contentType: 'application/json' };
    case 'update':
      return { method: 'PUT', path: own + query, body: object, contentType: 'application/json' };
    case 'merge':
      return { method: 'PATCH', path: own + query, body: object, contentType: 'application/merge-patch+json' };
    case 'apply':
      return {
        method: 'PATCH',
        path: `${own}${query}${pick(['', '&force=true'])}`,
        body: object,
        contentType: 'application/apply-patch+yaml',
      };
    case 'list':
      return {
        method: 'GET',
        path: `${path}${pick(['', '?limit=2', '?labelSelector=a', '?fieldSelector=metadata.name%3Done'])}`,
        body: undefined,
        contentType: '',
      };
    case 'get':
      return { method: 'GET', path: own, body: undefined, contentType: '' };
    case 'label':
      return {
        method: 'PATCH',
        path: '/api/v1/namespaces/default',
        body: { metadata: { labels: { a: pick(['b', null]) } } },
        contentType: 'application/merge-patch+json',
      };
    default:
      return { method: 'DELETE', path: own, body: undefined, contentType: '' };
  }
}
