import { startTestCluster, type TestCluster } from 'kubenest/testing';
import type { Lease } from 'kubenest/types/coordination_v1';
import type { Event, Node, Pod } from 'kubenest/types/core_v1';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { NodeShape, SimulatedNodesOptions } from './options.ts';
import { SimulatedNodes } from './simulated-nodes.ts';

let cluster: TestCluster;
beforeAll(async () => {
  const configuration = Object.assign(new SimulatedNodesOptions(), {
    nodes: [
      Object.assign(new NodeShape(), { count: 2, zones: ['a', 'b'], capacity: { cpu: '8' } }),
      Object.assign(new NodeShape(), { namePrefix: 'gpu-', labels: { gpu: 'yes' }, taints: [{ key: 'gpu', effect: 'NoSchedule' }] }),
    ],
  });
  cluster = await startTestCluster({ plugins: [{ plugin: SimulatedNodes, configuration }] });
  await vi.waitFor(async () => expect((await list<Node>('/api/v1/nodes')).length).toBe(3));
});
afterAll(() => cluster[Symbol.asyncDispose]());

async function ask<T>(...args: Parameters<TestCluster['fetch']>): Promise<T> {
  const response = await cluster.fetch(...args);
  expect(response.status, args[0]).toBeLessThan(300);
  return (await response.json()) as T;
}
const list = async <T>(path: string): Promise<T[]> => (await ask<{ items: T[] }>(path)).items;

const pods = '/api/v1/namespaces/default/pods';
const addPod = (name: string, spec: object = {}, metadata: object = {}): Promise<Pod> =>
  ask(pods, {
    body: { metadata: { name, ...metadata }, spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'nginx' }], ...spec } },
  });
const getPod = (name: string): Promise<Pod> => ask(`${pods}/${name}`);
const eventsOf = async (name: string): Promise<string[]> =>
  (await list<Event>('/api/v1/namespaces/default/events'))
    .filter(({ involvedObject }) => involvedObject?.name === name)
    .map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
const inPhase = (name: string, phase: string): Promise<Pod> =>
  vi.waitFor(async () => {
    const pod = await getPod(name);
    expect(pod.status?.phase).toBe(phase);
    return pod;
  });

describe('pods and nodes', () => {
  const withPort = (hostPort: number): object => ({
    containers: [{ name: 'c', image: 'nginx', ports: [{ containerPort: 80, hostPort }] }],
  });

  it('are refused while a host port is taken', async () => {
    await addPod('port-1', withPort(8080));
    await inPhase('port-1', 'Running');
    await addPod('port-2', withPort(8080));
    await addPod('port-3', { ...withPort(8080), nodeName: 'node-2' });
    await addPod('port-4', withPort(8081));
    const { status } = await inPhase('port-2', 'Failed');
    const message = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
    expect(status).toMatchObject({ reason: 'NodePorts', message: `Pod was rejected: ${message}` });
    await inPhase('port-3', 'Running');
    await inPhase('port-4', 'Running');
    await vi.waitFor(async () => expect(await eventsOf('port-2')).toEqual([`Warning NodePorts: ${message}`]));
    await ask(`${pods}/port-1`, { method: 'DELETE', body: { gracePeriodSeconds: 0 } });
    await addPod('port-5', withPort(8080));
    await inPhase('port-5', 'Running');
  });

  it('have an event about annotations without effect', async () => {
    const annotations = {
      'node.kubenest.dev/run-for': '5 minutes',
      'node.kubenest.dev/exit-code.other': '1',
      'node.kubenest.dev/exec': '{"a": 1}',
      'node.kubenest.dev/cpu': '100m',
      'node.kubenest.dev/redy': 'false',
    };
    await addPod('annotated', {}, { annotations });
    const expected = [
      'annotation node.kubenest.dev/run-for: must be a Go duration such as "1m30s", or "forever"',
      'annotation node.kubenest.dev/exit-code.other: the pod has no container "other"',
      'annotation node.kubenest.dev/exec: "a" must be a text or an object of stdout, stderr and exitCode',
      'unknown annotation node.kubenest.dev/redy',
    ];
    const problem = 'Warning InvalidSimulationAnnotation: ';
    await vi.waitFor(async () => {
      const found = (await eventsOf('annotated')).filter((event) => event.startsWith(problem));
      expect(found.map((event) => event.slice(problem.length).split('; ').sort())).toEqual([expected.toSorted()]);
    });
    await ask('/api/v1/nodes/node-2', {
      method: 'PATCH',
      body: { metadata: { annotations: { 'node.kubenest.dev/simulate': 'true' } } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    await vi.waitFor(async () => expect(await eventsOf('node-2')).toContain(`${problem}unknown annotation node.kubenest.dev/simulate`));
  });
});

describe('nodes', () => {
  it('make extended resources of their capacity allocatable', async () => {
    const path = '/api/v1/nodes/node-2';
    const patch = (capacity: object): Promise<Node> =>
      ask(`${path}/status`, {
        method: 'PATCH',
        body: { status: { capacity } },
        headers: { 'content-type': 'application/strategic-merge-patch+json' },
      });
    const allocatable = async (): Promise<string | undefined> => (await ask<Node>(path)).status?.allocatable?.['example.com/dongle'];
    await patch({ 'example.com/dongle': '4' });
    await vi.waitFor(async () => expect(await allocatable()).toBe('4'));
    await patch({ 'example.com/dongle': '2' });
    await vi.waitFor(async () => expect(await allocatable()).toBe('2'));
    await patch({ 'example.com/dongle': null });
    await vi.waitFor(async () => expect(await allocatable()).toBeUndefined());
    expect((await ask<Node>(path)).status?.allocatable).toMatchObject({ cpu: '8', pods: '1k' });
  });

  it('are registered by shape, ready and without the taint of new nodes', async () => {
    const shown = await vi.waitFor(async () => {
      const nodes = await list<Node>('/api/v1/nodes');
      expect(nodes.flatMap(({ spec }) => (spec?.taints ?? []).map(({ key }) => key))).toEqual(['gpu']);
      return nodes;
    });
    expect(shown.map(({ metadata, spec }) => [metadata.name, metadata.labels?.['topology.kubernetes.io/zone'], spec?.podCIDR])).toEqual([
      ['gpu-1', undefined, '10.192.8.0/22'],
      ['node-1', 'a', '10.192.0.0/22'],
      ['node-2', 'b', '10.192.4.0/22'],
    ]);
    const node = shown[1] as Node;
    expect(node.status).toMatchObject({
      capacity: { cpu: '8', memory: '256Gi', pods: '1k' },
      allocatable: { cpu: '8' },
      addresses: [
        { type: 'InternalIP', address: '172.20.0.2' },
        { type: 'Hostname', address: 'node-1' },
      ],
      nodeInfo: { kubeletVersion: expect.stringMatching(/^v1\./), operatingSystem: 'linux' },
    });
    expect(node.status?.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`)).toEqual([
      'MemoryPressure False KubeletHasSufficientMemory',
      'DiskPressure False KubeletHasNoDiskPressure',
      'PIDPressure False KubeletHasSufficientPID',
      'Ready True KubeletReady',
    ]);
  });

  it('have leases', async () => {
    await vi.waitFor(async () => {
      const leases = await list<Lease>('/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases');
      expect(leases.map(({ metadata, spec }) => [metadata.name, spec?.holderIdentity, spec?.leaseDurationSeconds])).toEqual(
        ['gpu-1', 'node-1', 'node-2'].map((name) => [name, name, 40]),
      );
    });
  });
});

describe('pods', () => {
  it('run, with addresses and events', async () => {
    await addPod('run');
    const { status } = await inPhase('run', 'Running');
    expect(status).toMatchObject({ hostIP: '172.20.0.2', podIP: expect.stringMatching(/^10\.192\.0\.\d+$/), qosClass: 'BestEffort' });
    await vi.waitFor(async () => {
      const events = (await list<Event>('/api/v1/namespaces/default/events')).filter(
        ({ involvedObject }) => involvedObject?.name === 'run',
      );
      expect(events.map(({ reason }) => reason).sort()).toEqual(['Created', 'Pulled', 'Pulling', 'Started']);
      expect(events[0]).toMatchObject({
        source: { component: 'kubelet', host: 'node-1' },
        reportingInstance: 'node-1',
        involvedObject: { fieldPath: 'spec.containers{c}' },
      });
    });
  });

  it('end as their command specifies', async () => {
    await addPod('fails', { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox', command: ['sh', '-c', 'exit 3'] }] });
    const { status } = await inPhase('fails', 'Failed');
    expect(status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 3, reason: 'Error' });
  });

  it('run if their command is a shell that runs itself', async () => {
    const container = { name: 'c', image: 'i', command: ['sh', '-c', 'sh -c "$X"'], env: [{ name: 'X', value: 'sh -c "$X"' }] };
    await addPod('recursive', { containers: [container] });
    await inPhase('recursive', 'Running');
  });

  it('wait for config maps and secrets, and keep their values', async () => {
    const secret = { name: 'late', key: 'word' };
    const spec = {
      restartPolicy: 'Never',
      containers: [
        {
          name: 'c',
          image: 'busybox',
          command: ['sh', '-c', 'echo $WORD $KUBERNETES_SERVICE_PORT_HTTPS; cat /etc/late/text; sleep 2; [ $WORD = first ]'],
          env: [{ name: 'WORD', valueFrom: { secretKeyRef: secret } }],
          volumeMounts: [{ name: 'v', mountPath: '/etc/late' }],
        },
      ],
      volumes: [{ name: 'v', configMap: { name: 'late' } }],
    };
    await addPod('waits', spec);
    const mountFailed = 'Warning FailedMount: MountVolume.SetUp failed for volume "v" : configmap "late" not found';
    await vi.waitFor(async () => expect(await eventsOf('waits')).toContain(mountFailed));
    const { status } = await getPod('waits');
    expect(status).toMatchObject({ phase: 'Pending', containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating' } } }] });
    expect(status?.podIP).toBeUndefined();
    await ask('/api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'late' }, data: { text: 'x' } } });
    await vi.waitFor(async () => expect(await eventsOf('waits')).toContain('Warning Failed: Error: secret "late" not found'));
    const waiting = { reason: 'CreateContainerConfigError', message: 'secret "late" not found' };
    expect((await getPod('waits')).status?.containerStatuses).toMatchObject([{ state: { waiting }, restartCount: 0 }]);
    const word = (text: string): object => ({ metadata: { name: 'late' }, stringData: { word: text } });
    await ask('/api/v1/namespaces/default/secrets', { body: word('first') });
    await inPhase('waits', 'Running');
    await ask('/api/v1/namespaces/default/secrets/late', { method: 'PUT', body: word('second') });
    await inPhase('waits', 'Succeeded');
  });

  it('are deleted', async () => {
    await addPod('gone');
    await inPhase('gone', 'Running');
    await ask(`${pods}/gone`, { method: 'DELETE' });
    await vi.waitFor(async () => expect((await cluster.fetch(`${pods}/gone`)).status).toBe(404));
  });

  it('are deleted once their finalizer is removed', async () => {
    await addPod('kept', {}, { finalizers: ['example.com/f'] });
    await inPhase('kept', 'Running');
    await ask(`${pods}/kept`, { method: 'DELETE' });
    await inPhase('kept', 'Succeeded');
    const headers = { 'content-type': 'application/merge-patch+json' };
    await ask(`${pods}/kept`, { method: 'PATCH', headers, body: { metadata: { finalizers: null } } });
    await vi.waitFor(async () => expect((await cluster.fetch(`${pods}/kept`)).status).toBe(404));
  });

  it('leaves pods of other nodes alone', async () => {
    await ask('/api/v1/nodes', { body: { metadata: { name: 'real' } } });
    await addPod('other', { nodeName: 'real' });
    await addPod('own');
    await inPhase('own', 'Running');
    expect((await getPod('other')).status?.phase).toBe('Pending');
  });
});
