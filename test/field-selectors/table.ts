/** Table of the responses to lists with field selectors, for every served version of every resource. */

export interface Listed {
  readonly status: number;
  readonly body: {
    readonly message?: string;
    readonly items?: readonly { readonly metadata: { readonly name?: string; readonly namespace?: string } }[];
    readonly metadata?: { readonly continue?: string };
    readonly groups?: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
    readonly resources?: readonly { readonly name: string; readonly namespaced: boolean; readonly verbs: readonly string[] }[];
  };
}

export type Ask = (path: string, options?: { method?: string; body?: object; contentType?: string }) => Promise<Listed>;

/** Error or listed objects by resource (`apps/v1/deployments`) and selector. */
export type Table = Record<string, Record<string, string>>;

const pod = (name: string, spec: object, status: object): Sample => ({
  path: '/api/v1/namespaces/fs-a/pods',
  object: { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }], serviceAccountName: 'default', ...spec } },
  status,
});
const event = (name: string, fields: object): Sample => ({
  path: '/api/v1/namespaces/fs-a/events',
  object: { metadata: { name }, ...fields },
});

interface Sample {
  readonly path: string;
  readonly object: Readonly<Record<string, unknown>> & { readonly metadata: { readonly name: string } };
  /** Status to set. */
  readonly status?: object;
}

const template = { metadata: { labels: { a: 'b' } }, spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
const slice = (name: string, driver: string, nodeName: string): Sample => ({
  path: '/apis/resource.k8s.io/v1/resourceslices',
  object: { metadata: { name }, spec: { driver, nodeName, pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, devices: [] } },
});

export const samples: readonly Sample[] = [
  ...['fs-a', 'fs-b'].map((name) => ({ path: '/api/v1/namespaces', object: { metadata: { name } } })),
  ...['fs-a', 'fs-b'].map((ns) => ({
    path: `/api/v1/namespaces/${ns}/serviceaccounts`,
    object: { metadata: { name: 'default' } },
  })),
  ...['fs-a', 'fs-b'].flatMap((ns) =>
    ['one', 'two'].flatMap((name): Sample[] => [
      { path: `/api/v1/namespaces/${ns}/configmaps`, object: { metadata: { name } } },
      { path: `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`, object: { metadata: { name } } },
      { path: `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles`, object: { metadata: { name } } },
      {
        path: `/apis/apps/v1/namespaces/${ns}/deployments`,
        object: {
          metadata: { name },
          spec: { selector: { matchLabels: { a: 'b' } }, template: { ...template, spec: { containers: template.spec.containers } } },
        },
      },
    ]),
  ),
  pod(
    'p1',
    { nodeName: 'n1', restartPolicy: 'Never', hostNetwork: true },
    { phase: 'Running', podIP: '10.1.0.1', podIPs: [{ ip: '10.1.0.1' }] },
  ),
  pod('p2', { schedulerName: 'mine' }, { phase: 'Pending', nominatedNodeName: 'n2' }),
  pod('p3', { nodeName: 'n1', restartPolicy: 'OnFailure' }, { phase: 'Running', podIP: '10.1.0.3', podIPs: [{ ip: '10.1.0.3' }] }),
  { path: '/api/v1/namespaces/fs-a/secrets', object: { metadata: { name: 's1' } } },
  {
    path: '/api/v1/namespaces/fs-a/secrets',
    object: { metadata: { name: 's2' }, type: 'kubernetes.io/basic-auth', data: { username: 'YQ==', password: 'Yg==' } },
  },
  { path: '/api/v1/namespaces/fs-a/services', object: { metadata: { name: 'v1' }, spec: { clusterIP: 'None', selector: { a: 'b' } } } },
  {
    path: '/api/v1/namespaces/fs-a/services',
    object: { metadata: { name: 'v2' }, spec: { type: 'NodePort', clusterIP: '10.0.0.77', ports: [{ port: 1 }] } },
  },
  { path: '/api/v1/namespaces/fs-a/services', object: { metadata: { name: 'v3' }, spec: { type: 'ExternalName', externalName: 'a.b' } } },
  {
    path: '/api/v1/namespaces/fs-a/replicationcontrollers',
    object: {
      metadata: { name: 'r1' },
      spec: { selector: { a: 'b' }, template: { ...template, spec: { containers: template.spec.containers } } },
    },
    status: { replicas: 3 },
  },
  {
    path: '/api/v1/namespaces/fs-a/replicationcontrollers',
    object: {
      metadata: { name: 'r2' },
      spec: { selector: { a: 'b' }, template: { ...template, spec: { containers: template.spec.containers } } },
    },
  },
  { path: '/api/v1/nodes', object: { metadata: { name: 'n1' }, spec: { unschedulable: true } } },
  { path: '/api/v1/nodes', object: { metadata: { name: 'n2' } } },
  { path: '/apis/batch/v1/namespaces/fs-a/jobs', object: { metadata: { name: 'j1' }, spec: { template } } },
  { path: '/apis/batch/v1/namespaces/fs-a/jobs', object: { metadata: { name: 'j2' }, spec: { template } }, status: { succeeded: 1 } },
  slice('sl1', 'a.example.com', 'n1'),
  slice('sl2', 'b.example.com', 'n1'),
  slice('sl3', 'a.example.com', 'n2'),
  event('e1', {
    involvedObject: { kind: 'Pod', namespace: 'fs-a', name: 'p1', uid: 'u1', apiVersion: 'v1', resourceVersion: '5', fieldPath: 'spec' },
    reason: 'Started',
    type: 'Normal',
    source: { component: 'kubelet' },
    reportingComponent: 'kubelet',
  }),
  event('e2', {
    involvedObject: { kind: 'Node', namespace: 'fs-a', name: 'n1' },
    reason: 'Failed',
    type: 'Warning',
    source: { component: 'scheduler' },
  }),
  event('e3', { involvedObject: { kind: 'Pod', namespace: 'fs-a', name: 'p2' }, reason: 'Started', type: 'Warning' }),
  {
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    object: {
      metadata: { name: 'gears.fs.example.com' },
      spec: {
        group: 'fs.example.com',
        scope: 'Namespaced',
        names: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' },
        versions: ['v1', 'v2'].map((name) => ({
          name,
          served: true,
          storage: name === 'v1',
          selectableFields: name === 'v1' ? [{ jsonPath: '.spec.teeth' }, { jsonPath: '.spec.round' }] : [{ jsonPath: '.spec.color' }],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: {
                    teeth: { type: 'integer' },
                    round: { type: 'boolean' },
                    color: { type: 'string' },
                    [name]: { type: 'string' },
                  },
                },
              },
            },
          },
        })),
      },
    },
  },
];

/** Custom resources, created once their definition is served. */
export const customSamples: readonly Sample[] = [
  ['g1', { teeth: 3, round: true, color: 'red' }],
  ['g2', { teeth: 3, color: '' }],
  ['g3', {}],
].map(([name, spec]) => ({
  path: '/apis/fs.example.com/v1/namespaces/fs-a/gears',
  object: { apiVersion: 'fs.example.com/v1', kind: 'Gear', metadata: { name: name as string }, spec },
}));

/** Values of each field that any resource supports, and of some unsupported fields. */
const values: Readonly<Record<string, readonly string[]>> = {
  'metadata.name': ['one', 'p1', 'e1', 'n1', 'absent'],
  'metadata.namespace': ['fs-a', 'fs-b', ''],
  'metadata.uid': ['u'],
  'spec.nodeName': ['n1', '', 'n2'],
  'spec.restartPolicy': ['Never', 'Always'],
  'spec.schedulerName': ['mine', 'default-scheduler'],
  'spec.serviceAccountName': ['default', ''],
  'spec.hostNetwork': ['true', 'false'],
  'status.phase': ['Running', 'Active', ''],
  'status.podIP': ['10.1.0.1', ''],
  'status.podIPs': ['10.1.0.1'],
  'status.nominatedNodeName': ['n2', ''],
  type: ['Opaque', 'Warning', 'kubernetes.io/basic-auth'],
  'status.replicas': ['3', '0'],
  'spec.clusterIP': ['None', '10.0.0.77', ''],
  'spec.type': ['NodePort', 'ClusterIP'],
  'spec.unschedulable': ['true', 'false'],
  'status.successful': ['1', '0'],
  'spec.signerName': ['example.com/one', 'kubernetes.io/kube-apiserver-client'],
  'spec.podName': ['p1'],
  'spec.driver': ['a.example.com'],
  'spec.teeth': ['3', '0', ''],
  'spec.round': ['true', 'false', ''],
  'spec.color': ['red', ''],
  'involvedObject.kind': ['Pod'],
  'involvedObject.namespace': ['fs-a'],
  'involvedObject.name': ['p1'],
  'involvedObject.uid': ['u1'],
  'involvedObject.apiVersion': ['v1'],
  'involvedObject.resourceVersion': ['5'],
  'involvedObject.fieldPath': ['spec'],
  'regarding.kind': ['Pod'],
  'regarding.namespace': ['fs-a'],
  'regarding.name': ['p1'],
  'regarding.uid': ['u1'],
  'regarding.apiVersion': ['v1'],
  'regarding.resourceVersion': ['5'],
  'regarding.fieldPath': ['spec'],
  reason: ['Started'],
  reportingComponent: ['kubelet', ''],
  reportingController: ['kubelet', ''],
  source: ['kubelet', ''],
};

/** Selectors that are invalid for every resource or have an uncommon form. */
const uncommon = [
  '=x',
  'metadata.name',
  'metadata.name=a=b',
  'metadata.name=a\\,b',
  'metadata.name=a\\b',
  ',',
  'metadata.name=one,',
  'metadata.name>a',
];

/** Creates the samples; rejects if one is rejected. */
export async function createSamples(ask: Ask): Promise<void> {
  const create = async ({ path, object, status }: Sample): Promise<void> => {
    const created = await ask(path, { method: 'POST', body: object });
    if (created.status !== 201 && created.status !== 409) throw new Error(`${path}: ${created.status} ${created.body.message}`);
    if (!status) return;
    const patched = await ask(`${path}/${object.metadata.name}/status`, {
      method: 'PATCH',
      body: { status },
      contentType: 'application/merge-patch+json',
    });
    if (patched.status !== 200) throw new Error(`${path}/status: ${patched.status} ${patched.body.message}`);
  };
  for (const sample of samples) await create(sample);
  for (let left = 100; (await ask('/apis/fs.example.com/v1/gears')).status !== 200; left -= 1) {
    if (left === 0) throw new Error('the custom resource is not served');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  for (const sample of customSamples) await create(sample);
}

/** Creates the table from a server with the samples. */
export async function makeTable(ask: Ask): Promise<Table> {
  const table: Table = {};
  for (const [name, path] of await listed(ask)) {
    const row: Record<string, string> = {};
    table[name] = row;
    const select = async (selector: string, query = ''): Promise<string> =>
      outcomeOf(await ask(`${path}?fieldSelector=${encodeURIComponent(selector)}${query}`));
    const supported: string[] = [];
    for (const [field, [first = '']] of Object.entries(values)) {
      const selector = `${field}=${first}`;
      row[selector] = await select(selector);
      if (!row[selector].startsWith('400')) supported.push(field);
    }
    for (const selector of uncommon) row[selector] = await select(selector);
    for (const field of supported) {
      for (const value of values[field] ?? [])
        for (const operator of ['=', '==', '!=']) {
          const selector = field + operator + value;
          row[selector] ??= await select(selector);
        }
      const [first = '', second = first] = values[field] ?? [];
      for (const selector of [
        `${field}=${first},metadata.namespace=fs-a`,
        `${field}!=${first},${field}!=${second}`,
        `metadata.name!=p2,${field}=${first}`,
      ])
        row[selector] ??= await select(selector);
      // kube-apiserver loses objects in pages of a single namespace selected from all, because its token uses another prefix
      // than the continuation.
      if (field !== 'metadata.namespace')
        for (const operator of ['=', '!=']) row[`pages of ${field}${operator}${first}`] = await pages(ask, path, field + operator + first);
    }
  }
  return table;
}

async function listed(ask: Ask): Promise<[name: string, path: string][]> {
  const { body } = await ask('/apis');
  const versions = ['v1', ...(body.groups ?? []).flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion)).sort()];
  const found: [string, string][] = [];
  for (const version of versions) {
    const root = version === 'v1' ? '/api/v1' : `/apis/${version}`;
    for (const resource of (await ask(root)).body.resources ?? [])
      if (resource.verbs.includes('list') && !resource.name.includes('/'))
        found.push([`${version}/${resource.name}`, `${root}/${resource.name}`]);
  }
  return found;
}

/** Names of the sample objects; other objects are created and deleted by the server. */
const names = new Set([...samples, ...customSamples].map(({ object }) => object.metadata.name));

function outcomeOf({ status, body }: Listed): string {
  if (status !== 200) return `${status} ${body.message}`;
  const found = (body.items ?? []).map(({ metadata }) =>
    metadata.namespace ? `${metadata.namespace}/${metadata.name}` : (metadata.name ?? ''),
  );
  return found.filter((name) => (name.startsWith('fs-') || !name.includes('/')) && names.has(name.split('/').at(-1) ?? '')).join(' ');
}

/** Lists in pages of one object. Returns the number of objects on each page and their names. */
async function pages(ask: Ask, path: string, selector: string): Promise<string> {
  const found: string[] = [];
  for (let token = ''; ; ) {
    const page = await ask(`${path}?limit=2&fieldSelector=${encodeURIComponent(selector)}&continue=${encodeURIComponent(token)}`);
    if (page.status !== 200) return outcomeOf(page);
    found.push(outcomeOf(page));
    token = page.body.metadata?.continue ?? '';
    if (token === '') return found.filter((names) => names !== '').join(' | ');
  }
}
