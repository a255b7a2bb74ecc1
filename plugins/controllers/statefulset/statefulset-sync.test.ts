import type { ControllerRevision, StatefulSet, StatefulSetSpec } from 'kubenest/types/apps_v1';
import type { Pod } from 'kubenest/types/core_v1';
import { describe, expect, it } from 'vitest';
import { isBeforeUpdate, newPod } from './stateful-pods.ts';
import type { StatefulPodControl } from './stateful-pod-control.ts';
import { completed, statusOf } from './statefulset-status.ts';
import { StatefulSetSync } from './statefulset-sync.ts';

const now = Date.parse('2026-01-01T01:00:00Z');
const set = (spec: StatefulSetSpec = {}): StatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 's', namespace: 'n', uid: 's' },
  spec: { replicas: 3, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }, ...spec },
});
const revision = (name: string): ControllerRevision => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: { name },
  data: { spec: { template: { $patch: 'replace', spec: { hostname: name } } } },
});
const revisions = { current: revision('old'), update: revision('new'), collisionCount: 0 };

/** `state`: revision, then `ready`, `pending`, `failed` or `deleted`. */
const pod = (ordinal: number, state: string): Pod => {
  const [template = '', progress = ''] = state.split(' ');
  const planned = newPod(set(), ordinal, template);
  const isReady = progress === 'ready';
  return {
    ...planned,
    metadata: { ...planned.metadata, uid: `p${ordinal}`, ...(progress === 'deleted' && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    status: {
      phase: { pending: 'Pending', failed: 'Failed' }[progress] ?? 'Running',
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
  };
};

/** Runs a reconcile and returns its actions on pods. */
async function actionsOf(of: StatefulSet, pods: Pod[]): Promise<string[]> {
  const actions: string[] = [];
  const record =
    (verb: string) =>
    (_: StatefulSet, { metadata }: Pod) => {
      actions.push(`${verb} ${metadata.name}${verb === 'create' ? ` ${metadata.labels?.['controller-revision-hash']}` : ''}`);
      return Promise.resolve();
    };
  const control: Partial<StatefulPodControl> = {
    create: record('create'),
    delete: record('delete'),
    update: record('update'),
    createClaims: () => Promise.resolve(),
    updateClaims: () => Promise.resolve(),
    hasClaimOwners: () => true,
    hasStaleClaim: () => false,
  };
  await new StatefulSetSync(control as StatefulPodControl, of, revisions, pods, now).run();
  return actions;
}

const ready = (count: number, state = 'new ready'): Pod[] => Array.from({ length: count }, (_, ordinal) => pod(ordinal, state));
const partition = (from: number, more: object = {}): StatefulSetSpec => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: from, ...more } },
});
const parallel: StatefulSetSpec = { podManagementPolicy: 'Parallel' };

describe('a reconcile', () => {
  it.each([
    { name: 'creates the first pod', of: set(), pods: [], expected: ['create s-0 new'] },
    { name: 'waits until a pod is ready', of: set(), pods: [pod(0, 'new pending')], expected: [] },
    { name: 'creates the next pod', of: set(), pods: ready(1), expected: ['create s-1 new'] },
    { name: 'waits for minReadySeconds', of: set({ minReadySeconds: 7_200 }), pods: ready(1), expected: [] },
    { name: 'creates all pods in parallel', of: set(parallel), pods: [], expected: ['create s-0 new', 'create s-1 new', 'create s-2 new'] },
    { name: 'of endless replicas creates one pod in order', of: set({ replicas: 0x7fffffff }), pods: [], expected: ['create s-0 new'] },
    {
      name: 'of endless replicas in parallel creates the next 500',
      of: set({ replicas: 0x7fffffff, ...parallel }),
      pods: ready(1),
      expected: Array.from({ length: 500 }, (_, at) => `create s-${at + 1} new`),
    },
    { name: 'starts at an ordinal', of: set({ ordinals: { start: 5 } }), pods: [], expected: ['create s-5 new'] },
    { name: 'replaces a failed pod', of: set(), pods: [pod(0, 'new failed')], expected: ['delete s-0'] },
    { name: 'waits for a deleted pod', of: set(), pods: [pod(0, 'new deleted')], expected: [] },
    { name: 'deletes the last surplus pod', of: set({ replicas: 1 }), pods: ready(3), expected: ['delete s-2'] },
    { name: 'waits for surplus pods', of: set({ replicas: 1 }), pods: [...ready(2), pod(2, 'new deleted')], expected: [] },
    {
      name: 'deletes the first surplus pod that is not ready',
      of: set({ replicas: 1 }),
      pods: [...ready(2), pod(2, 'new pending')],
      expected: ['delete s-2'],
    },
    {
      name: 'waits for another surplus pod that is not ready',
      of: set({ replicas: 1 }),
      pods: [...ready(1), pod(1, 'new pending'), pod(2, 'new pending')],
      expected: [],
    },
    {
      name: 'deletes all surplus pods in parallel',
      of: set({ ...parallel, replicas: 1 }),
      pods: ready(3),
      expected: ['delete s-2', 'delete s-1'],
    },
    { name: 'updates the last pod first', of: set(), pods: ready(3, 'old ready'), expected: ['delete s-2'] },
    { name: 'updates one pod at a time', of: set(parallel), pods: [...ready(2, 'old ready'), pod(2, 'new pending')], expected: [] },
    { name: 'updates the next pod then', of: set(), pods: [...ready(2, 'old ready'), pod(2, 'new ready')], expected: ['delete s-1'] },
    {
      name: 'leaves the pods below the partition',
      of: set(partition(2)),
      pods: [...ready(2, 'old ready'), pod(2, 'new ready')],
      expected: [],
    },
    { name: 'creates pods below the partition from the old template', of: set(partition(2)), pods: [], expected: ['create s-0 old'] },
    {
      name: 'updates as many as may be unavailable',
      of: set(partition(0, { maxUnavailable: 2 })),
      pods: ready(3, 'old ready'),
      expected: ['delete s-2', 'delete s-1'],
    },
    { name: 'leaves old pods with OnDelete', of: set({ updateStrategy: { type: 'OnDelete' } }), pods: ready(3, 'old ready'), expected: [] },
  ])('$name', async ({ of, pods, expected }) => {
    expect(await actionsOf(of, pods)).toEqual(expected);
  });
});

it('creates pods from the old template up to the number of current replicas without a partition', () => {
  const of = { ...set({ updateStrategy: { type: 'RollingUpdate' } }), status: { currentReplicas: 2 } };
  expect([0, 1, 2].map((ordinal) => isBeforeUpdate(of, ordinal))).toEqual([true, true, false]);
});

it('gives a pod its name, labels, claims and DNS name', () => {
  const { metadata, spec } = newPod(
    set({
      serviceName: 'svc',
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { volumes: [{ name: 'tmp' }, { name: 'data' }] } },
      volumeClaimTemplates: [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' } }],
    }),
    1,
    'r',
  );
  expect(metadata.labels).toEqual({
    a: 'b',
    'controller-revision-hash': 'r',
    'statefulset.kubernetes.io/pod-name': 's-1',
    'apps.kubernetes.io/pod-index': '1',
  });
  expect(spec).toEqual({
    hostname: 's-1',
    subdomain: 'svc',
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-s-1' } }, { name: 'tmp' }],
  });
});

describe('the status', () => {
  it('counts pods by their template', () => {
    expect(statusOf(set(), revisions, [pod(0, 'old ready'), pod(1, 'old deleted'), pod(2, 'new pending')], now)).toEqual({
      replicas: 3,
      readyReplicas: 1,
      currentReplicas: 1,
      updatedReplicas: 1,
      currentRevision: 'old',
      updateRevision: 'new',
      collisionCount: 0,
      availableReplicas: 1,
    });
  });

  it('makes the update the current revision when all pods have it', () => {
    const status = statusOf(set(), revisions, ready(3), now);
    expect(completed(set(), status)).toMatchObject({ currentRevision: 'new', currentReplicas: 3 });
    expect(completed(set({ replicas: 4 }), status)).toMatchObject({ currentRevision: 'old', currentReplicas: 0 });
  });
});
