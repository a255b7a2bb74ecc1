/** Requests to both servers, in this order, and the comparison of their audit events. */

export interface AuditedRequest {
  readonly method: string;
  readonly path: string;
  /** Token of the user, from `tokens`; undefined: anonymous. */
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | object;
}

export const tokens = 'admin-token,admin,admin-uid,"system:masters"\njane-token,jane,jane-uid,"devs,ops"\n';
export const userAgent = 'audit-comparison';

/** A policy with every level and all stages. */
export const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [
    { level: 'Metadata', resources: [{ group: '', resources: ['secrets', 'serviceaccounts/token'] }, { group: 'authentication.k8s.io' }] },
    { level: 'None', nonResourceURLs: ['/healthz*'] },
    {
      level: 'Request',
      resources: [{ group: '', resources: ['services', 'services/*'] }, { group: 'apps' }],
      omitStages: ['RequestReceived'],
    },
    { level: 'RequestResponse', omitManagedFields: true, resources: [{ group: '' }, { group: 'rbac.authorization.k8s.io' }] },
    { level: 'RequestResponse', namespaces: ['audited'] },
    { level: 'Metadata' },
  ],
};

const admin = 'admin-token';
const jane = 'jane-token';
const json = { 'content-type': 'application/json' };
const namespaced = (group: string, resource: string): string => `${group}/namespaces/audited/${resource}`;
const core = '/api/v1';

function get(path: string, token: string | undefined = admin, headers: Readonly<Record<string, string>> = {}): AuditedRequest {
  return { method: 'GET', path, token, headers };
}
function send(
  method: string,
  path: string,
  body: string | object,
  token = admin,
  headers: Readonly<Record<string, string>> = json,
): AuditedRequest {
  return { method, path, token, headers, body };
}
const patchAs = (type: string, path: string, body: object | string, query = ''): AuditedRequest =>
  send('PATCH', `${path}${query}`, body, admin, { 'content-type': type });

interface Kind {
  readonly path: string;
  readonly object: object & { readonly metadata: { readonly name: string } };
  readonly change: object;
}
const selector = { matchLabels: { app: 'a' } };
const pod = { containers: [{ name: 'c', image: 'example.com/c:1' }] };
const template = { metadata: { labels: { app: 'a' } }, spec: pod };
const kinds: readonly Kind[] = [
  {
    path: namespaced(core, 'configmaps'),
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cm' }, data: { k: 'v' } } as Kind['object'],
    change: { data: { k: 'w' } },
  },
  {
    path: namespaced(core, 'secrets'),
    object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'sec' }, stringData: { k: 'hidden' } } as Kind['object'],
    change: { stringData: { k: 'hidden too' } },
  },
  {
    path: namespaced(core, 'services'),
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'svc' },
      spec: { clusterIP: 'None', ports: [{ port: 80 }] },
    } as Kind['object'],
    change: { spec: { sessionAffinity: 'ClientIP' } },
  },
  {
    path: namespaced('/apis/apps/v1', 'deployments'),
    object: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'dep' }, spec: { selector, template } } as Kind['object'],
    change: { spec: { replicas: 2 } },
  },
  {
    path: namespaced('/apis/coordination.k8s.io/v1', 'leases'),
    object: {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'l' },
      spec: { holderIdentity: 'a' },
    } as Kind['object'],
    change: { spec: { holderIdentity: 'b' } },
  },
  {
    path: namespaced('/apis/rbac.authorization.k8s.io/v1', 'roles'),
    object: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'r' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }],
    } as Kind['object'],
    change: { rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }] },
  },
  {
    path: '/apis/scheduling.k8s.io/v1/priorityclasses',
    object: { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'audited' }, value: 7 } as Kind['object'],
    change: { description: 'changed' },
  },
];

/** The lifecycle of an object, including failing requests. */
function life({ path, object, change }: Kind): AuditedRequest[] {
  const { name } = object.metadata;
  const one = `${path}/${name}`;
  return [
    get(path),
    get(one),
    send('POST', `${path}?dryRun=All`, object),
    send('POST', path, object),
    send('POST', path, object),
    send('POST', path, object, jane),
    send('POST', path, '{"kind": broken'),
    send('POST', path, { ...object, metadata: { name: 'Not A Name' } }),
    get(one),
    get(one, jane),
    get(path, admin, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }),
    get(path, admin, { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' }),
    get(`${path}?labelSelector=a%3Db&limit=5`),
    get(`${path}?labelSelector=a%3D%3D%3Db`),
    get(`${path}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3D${name}`),
    patchAs('application/merge-patch+json', one, change),
    patchAs('application/json-patch+json', one, [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }]),
    patchAs('application/strategic-merge-patch+json', one, { metadata: { annotations: { n: 'one' } } }),
    patchAs(
      'application/apply-patch+yaml',
      one,
      { ...object, metadata: { name, labels: { applied: 'yes' } } },
      '?fieldManager=me&force=true',
    ),
    patchAs('text/plain', one, 'x'),
    send('DELETE', `${one}?dryRun=All`, {}),
    send('DELETE', one, { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' }),
    send('DELETE', one, {}),
    get(`${path}/${name}/unknown`),
  ];
}

const impersonating = (user: string, ...more: readonly [string, string][]): Readonly<Record<string, string>> => ({
  'impersonate-user': user,
  ...Object.fromEntries(more),
});
const review = (spec: object) => ({ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec });

export const requests: readonly AuditedRequest[] = [
  send('POST', `${core}/namespaces`, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'audited' } }),
  ...kinds.flatMap(life),
  get('/version'),
  get('/version', undefined),
  get('/healthz'),
  get('/api'),
  get('/apis/apps/v1'),
  get('/nowhere'),
  get('/nowhere', jane),
  get('/version', 'wrong-token'),
  get('/apis/example.com/v1/widgets'),
  get(`${core}/namespaces/audited/widgets`),
  get(namespaced(core, 'configmaps'), undefined),
  get(namespaced(core, 'configmaps'), 'wrong-token'),
  get(namespaced(core, 'configmaps'), admin, impersonating('bob', ['impersonate-group', 'devs'], ['impersonate-uid', '7'])),
  get(namespaced(core, 'configmaps'), admin, impersonating('system:serviceaccount:audited:default')),
  get(namespaced(core, 'configmaps'), jane, impersonating('bob')),
  get(
    namespaced(core, 'configmaps'),
    admin,
    impersonating('bob', ['impersonate-group', 'system:masters'], ['impersonate-extra-scopes', 'view']),
  ),
  send(
    'POST',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    review({ nonResourceAttributes: { path: '/x', verb: 'get' } }),
    jane,
  ),
  send('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token: 'not-a-token' },
  }),
  send('POST', namespaced(core, 'serviceaccounts'), { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } }),
  send('POST', `${namespaced(core, 'serviceaccounts')}/sa/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { audiences: ['a'], expirationSeconds: 600 },
  }),
  send('POST', namespaced(core, 'pods'), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { ...pod, serviceAccountName: 'sa', automountServiceAccountToken: false },
  }),
  send('POST', `${namespaced(core, 'pods')}/p/binding`, { apiVersion: 'v1', kind: 'Binding', target: { kind: 'Node', name: 'n1' } }),
  patchAs('application/merge-patch+json', `${namespaced(core, 'pods')}/p/status`, { status: { phase: 'Running' } }),
  get(`${namespaced(core, 'pods')}/p/status`),
  send('POST', `${namespaced(core, 'pods')}/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } }),
  patchAs('application/merge-patch+json', namespaced(core, 'configmaps') + '/none', { data: { a: 'b' } }),
  send('PUT', namespaced(core, 'configmaps') + '/none', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'none' } }),
  send('POST', namespaced(core, 'configmaps'), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x', labels: { a: 'not a value' } },
  }),
  send('POST', `${namespaced(core, 'configmaps')}?fieldValidation=Strict`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x' },
    more: 1,
  }),
  send('POST', namespaced(core, 'configmaps'), { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } }),
  send('DELETE', namespaced(core, 'configmaps'), {}),
  send('DELETE', `${namespaced(core, 'pods')}/p?gracePeriodSeconds=0`, {}),
];

/** Values that differ between runs. */
const varying = new Set([
  'auditID',
  'requestReceivedTimestamp',
  'stageTimestamp',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'time',
  'deletionTimestamp',
  'startTime',
]);
const dated = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** Normalizes events for comparison: values that differ between runs are only distinguished from missing ones. */
export function normalized(lines: readonly string[]): unknown[] {
  return lines
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
    .filter((event) => event['userAgent'] === userAgent)
    .map((event) => withoutVarying(event, ''))
    .map((event) => withoutEmptyAnnotations(event as Record<string, unknown>));
}

function withoutVarying(value: unknown, parent: string): unknown {
  // Ages in tables.
  if (typeof value === 'string') return value.replace(dated, '<time>').replace(/^\d+s$/, '<age>');
  if (Array.isArray(value)) return value.map((item) => withoutVarying(item, parent));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      // Present only for slow requests.
      if (name.startsWith('apiserver.latency.k8s.io/')) return [];
      if (name === 'authentication.kubernetes.io/issued-credential-id') return [[name, 'JTI=<uid>']];
      // Users of the token file have constant uids.
      const isVarying = varying.has(name) && !(name === 'uid' && (parent === 'user' || parent === 'impersonatedUser'));
      return [[name, isVarying && member !== null ? `<${name}>` : withoutVarying(member, name)]];
    }),
  );
}

function withoutEmptyAnnotations({ annotations, ...event }: Record<string, unknown>): Record<string, unknown> {
  return annotations === undefined || Object.keys(annotations as object).length === 0 ? event : { ...event, annotations };
}
