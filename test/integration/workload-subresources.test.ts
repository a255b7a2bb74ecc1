import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster, type TestRequest } from '#testing/index';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster();
});
afterAll(() => cluster[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: answers of many kinds
type Answer = { readonly status: number; readonly headers: Headers; readonly body: any };

async function ask(path: string, init?: TestRequest): Promise<Answer> {
  const response = await cluster.fetch(path, init);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const pods = '/api/v1/namespaces/default/pods';
const merge = (body: object): TestRequest => ({ method: 'PATCH', body, headers: { 'content-type': 'application/merge-patch+json' } });
const pod = (name: string, spec: object = {}, labels: object = { app: name }) =>
  ask(pods, { body: { metadata: { name, labels }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } } });

describe('scale', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };

  it.each([
    { path: '/apis/apps/v1/namespaces/default/deployments', selector: { matchLabels: { a: 'b' } }, version: 'apps/v1' },
    { path: '/apis/apps/v1/namespaces/default/replicasets', selector: { matchLabels: { a: 'b' } }, version: 'apps/v1' },
    { path: '/apis/apps/v1/namespaces/default/statefulsets', selector: { matchLabels: { a: 'b' } }, version: 'apps/v1' },
    { path: '/api/v1/namespaces/default/replicationcontrollers', selector: { a: 'b' }, version: 'v1' },
  ])('$path', async ({ path, selector, version }) => {
    await ask(path, { body: { metadata: { name: 's' }, spec: { replicas: 2, selector, template } } });
    const { body: scale } = await ask(`${path}/s/scale`);
    expect(scale).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 's' },
      spec: { replicas: 2 },
      status: { replicas: 0, selector: 'a=b' },
    });

    const put = await ask(`${path}/s/scale`, { method: 'PUT', body: { ...scale, spec: { replicas: 0 } } });
    expect([put.status, put.body.spec]).toEqual([200, {}]);
    const stale = await ask(`${path}/s/scale`, { method: 'PUT', body: { ...scale, spec: { replicas: 7 } } });
    expect([stale.status, stale.body.reason]).toEqual([409, 'Conflict']);
    const jsonPatch = await ask(`${path}/s/scale`, {
      method: 'PATCH',
      body: [{ op: 'add', path: '/spec/replicas', value: 3 }],
      headers: { 'content-type': 'application/json-patch+json' },
    });
    expect(jsonPatch.body.spec).toEqual({ replicas: 3 });
    const negative = await ask(`${path}/s/scale`, merge({ spec: { replicas: -1 } }));
    expect(negative.body).toMatchObject({
      code: 422,
      message: 'Scale.autoscaling "s" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    });
    const uid = await ask(`${path}/s/scale`, merge({ metadata: { uid: 'other' } }));
    expect(uid.body).toMatchObject({ code: 409, reason: 'Conflict' });

    const applied = await ask(`${path}/s/scale?fieldManager=scaler&force=true`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 's' }, spec: { replicas: 5 } },
    });
    expect(applied.body.spec).toEqual({ replicas: 5 });
    const { body: workload } = await ask(`${path}/s`);
    expect(workload.spec.replicas).toBe(5);
    expect(workload.metadata.managedFields).toContainEqual({
      manager: 'scaler',
      operation: 'Apply',
      apiVersion: version,
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      subresource: 'scale',
    });
    const table = await ask(`${path}/s/scale`, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
    expect(table.body.rows[0].cells.slice(0, 3)).toEqual(['s', 5, 0]);
  });
});

describe('binding', () => {
  it('assigns a pod once', async () => {
    await pod('bound');
    const bind = (body: object): Promise<Answer> => ask(`${pods}/bound/binding`, { body });
    expect((await bind({ metadata: { name: 'bound' }, target: { name: 'n', kind: 'Pod' } })).body).toMatchObject({
      code: 500,
      message: 'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
    });
    expect((await bind({ metadata: { name: 'bound', uid: 'other' }, target: { name: 'n' } })).body.message).toContain(
      'Precondition failed: UID in precondition: other',
    );
    expect((await bind({ metadata: { name: 'bound', annotations: { a: 'b' } }, target: { name: 'n' } })).body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      code: 201,
    });
    const { body } = await ask(`${pods}/bound`);
    expect(body).toMatchObject({
      metadata: { annotations: { a: 'b' } },
      spec: { nodeName: 'n' },
      status: { conditions: [{ type: 'PodScheduled', status: 'True' }] },
    });
    expect((await bind({ metadata: { name: 'bound' }, target: { name: 'n' } })).body.message).toBe(
      'Operation cannot be fulfilled on pods/binding "bound": pod bound is already assigned to node "n"',
    );
  });

  it('is possible through the older resource', async () => {
    await pod('older');
    expect(
      (await ask('/api/v1/namespaces/default/bindings', { body: { metadata: { name: 'older' }, target: { name: 'n' } } })).status,
    ).toBe(201);
    expect((await ask(`${pods}/older`)).body.spec.nodeName).toBe('n');
  });

  it('is not stored in a dry run', async () => {
    await pod('dry');
    expect((await ask(`${pods}/dry/binding?dryRun=All`, { body: { metadata: { name: 'dry' }, target: { name: 'n' } } })).status).toBe(201);
    expect((await ask(`${pods}/dry`)).body.spec.nodeName).toBeUndefined();
  });
});

describe('eviction', () => {
  const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
  const evict = (name: string, rest: object = {}): Promise<Answer> =>
    ask(`${pods}/${name}/eviction`, { body: { metadata: { name }, ...rest } });
  const running = async (name: string, labels: object, ready = true): Promise<void> => {
    await pod(name, { nodeName: 'n' }, labels);
    await ask(
      `${pods}/${name}/status`,
      merge({ status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] } }),
    );
  };
  const budget = async (name: string, selector: object, status: object, spec: object = {}): Promise<void> => {
    await ask(budgets, { body: { metadata: { name }, spec: { minAvailable: 1, selector: { matchLabels: selector }, ...spec } } });
    await ask(`${budgets}/${name}/status`, merge({ status: { observedGeneration: 1, ...status } }));
  };

  it("decrements the budget's allowed disruptions", async () => {
    await running('counted', { e: 'counted' });
    await budget('counted', { e: 'counted' }, { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 });
    expect((await ask(`${pods}/counted/eviction?dryRun=All`, { body: { metadata: { name: 'counted' } } })).status).toBe(201);
    expect((await ask(`${budgets}/counted`)).body.status.disruptionsAllowed).toBe(1);
    expect((await evict('counted')).status).toBe(201);
    const { body } = await ask(`${budgets}/counted`);
    expect(body.status).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { counted: expect.any(String) },
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
    });
    const { body: evicted } = await ask(`${pods}/counted`);
    expect(evicted).toMatchObject({
      metadata: { deletionGracePeriodSeconds: 30 },
      status: { conditions: [{ type: 'Ready' }, { type: 'DisruptionTarget', reason: 'EvictionByEvictionAPI' }] },
    });
  });

  it.each([
    {
      name: 'none-left',
      status: { currentHealthy: 1, desiredHealthy: 1 },
      cause: 'The disruption budget none-left needs 1 healthy pods and has 1 currently',
      retry: null,
    },
    {
      name: 'none-now',
      status: { currentHealthy: 3, desiredHealthy: 1 },
      cause: 'The disruption budget none-now does not allow evicting pods currently',
      retry: null,
    },
    {
      name: 'out-of-sync',
      status: {
        conditions: [
          { type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message: 'why', lastTransitionTime: '2020-01-01T00:00:00Z' },
        ],
      },
      cause: 'The disruption budget out-of-sync does not allow evicting pods currently because it failed sync: why',
      retry: null,
    },
    {
      name: 'unseen',
      status: { observedGeneration: 0, disruptionsAllowed: 1 },
      cause: 'The disruption budget unseen is still being processed by the server.',
      retry: '10',
    },
  ])('is rejected: $name', async ({ name, status, cause, retry }) => {
    await running(name, { e: name });
    await budget(name, { e: name }, status);
    const { status: code, headers, body } = await evict(name);
    expect([code, headers.get('retry-after')]).toEqual([429, retry]);
    expect(body.details.causes).toEqual([{ reason: 'DisruptionBudget', message: cause }]);
    expect((await ask(`${pods}/${name}`)).body.metadata.deletionTimestamp).toBeUndefined();
  });

  it('admits unhealthy pods if enough others are healthy', async () => {
    await running('unready', { e: 'unready' }, false);
    await budget('unready', { e: 'unready' }, { currentHealthy: 1, desiredHealthy: 1 });
    expect((await evict('unready')).status).toBe(201);
    expect((await ask(`${budgets}/unready`)).body.status.disruptedPods).toBeUndefined();
  });

  it('always admits unhealthy pods if the budget allows it', async () => {
    await running('always', { e: 'always' }, false);
    await budget('always', { e: 'always' }, { currentHealthy: 0, desiredHealthy: 1 }, { unhealthyPodEvictionPolicy: 'AlwaysAllow' });
    expect((await evict('always')).status).toBe(201);
  });

  it('ignores budgets for pods that have not started', async () => {
    await pod('pending', {}, { e: 'pending' });
    await budget('pending', { e: 'pending' }, { currentHealthy: 1, desiredHealthy: 1 });
    expect((await evict('pending')).status).toBe(201);
    expect((await ask(`${pods}/pending`)).status).toBe(404);
  });

  it('fails if two budgets match the pod', async () => {
    await running('twice', { e: 'twice' });
    await budget('twice-a', { e: 'twice' }, { disruptionsAllowed: 1 });
    await budget('twice-b', { e: 'twice' }, { disruptionsAllowed: 1 });
    expect((await evict('twice')).body).toMatchObject({
      code: 500,
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    });
  });

  it('checks preconditions', async () => {
    await running('precise', { e: 'precise' });
    expect((await evict('precise', { deleteOptions: { preconditions: { resourceVersion: '1' } } })).body).toMatchObject({
      code: 409,
      reason: 'Conflict',
    });
    const { body } = await ask(`${pods}/precise`);
    expect(
      (
        await evict('precise', {
          deleteOptions: { gracePeriodSeconds: 0, preconditions: { resourceVersion: body.metadata.resourceVersion } },
        })
      ).status,
    ).toBe(201);
    expect((await ask(`${pods}/precise`)).status).toBe(404);
  });

  it('accepts the older version of the kind', async () => {
    await pod('beta');
    expect((await evict('beta', { kind: 'Eviction', apiVersion: 'policy/v1beta1' })).status).toBe(201);
    expect((await evict('beta', { kind: 'Eviction', apiVersion: 'policy/v2' })).status).toBe(400);
  });
});

describe('component statuses', () => {
  it('reports the local components', async () => {
    const { body, headers } = await ask('/api/v1/componentstatuses');
    expect(headers.get('warning')).toBe('299 - "v1 ComponentStatus is deprecated in v1.19+"');
    expect(body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual([
      'scheduler',
      'controller-manager',
      'etcd-0',
    ]);
    expect((await ask('/api/v1/componentstatuses/etcd-0')).body.conditions).toEqual([{ type: 'Healthy', status: 'True', message: 'ok' }]);
    expect((await ask('/api/v1/componentstatuses/none')).body.message).toBe('componentstatus "none" not found');
    expect((await ask('/api/v1/componentstatuses?fieldSelector=metadata.name%3Detcd-0')).body.items).toHaveLength(1);
    expect(
      (await ask('/api/v1/componentstatuses', { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } })).body.rows,
    ).toHaveLength(3);
  });
});
