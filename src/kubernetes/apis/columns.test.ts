import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { formatLabelSelector, labelSelectorText, listWithMore } from '#kubernetes/apis/columns';
import { groups } from '#kubernetes/apis/groups';

const now = Date.parse('2026-11-21T12:00:00Z');
const created = '2026-11-21T11:00:00Z';
const resources = new Map(
  groups
    .flatMap((group) => group.resources)
    .map((resource) => [`${resource.group || 'core'}/${resource.version}/${resource.resource}`, resource]),
);

function cells(path: string, object: object): unknown[] {
  const { metadata, ...rest } = object as { metadata?: object };
  const complete = { apiVersion: '', kind: '', metadata: { name: 'x', creationTimestamp: created, ...metadata }, ...rest } as KubeObject;
  return resources.get(path)!.columns.map((column) => column.value(complete, { now }));
}

const terminated = (exitCode: number, more: object = {}) => ({ state: { terminated: { exitCode, ...more } } });
const running = { ready: true, state: { running: {} } };
const restarted = { restartCount: 3, lastState: { terminated: { exitCode: 1, finishedAt: '2026-11-21T11:50:00Z' } } };
const pod = (status: object, metadata: object = {}, spec: object = { containers: [{ name: 'c' }] }) => ({ metadata, spec, status });

describe('columns of pods', () => {
  it.each([
    { name: 'pending', object: pod({ phase: 'Pending' }), want: ['0/1', 'Pending', '0'] },
    { name: 'running', object: pod({ phase: 'Running', containerStatuses: [{ name: 'c', ...running }] }), want: ['1/1', 'Running', '0'] },
    {
      name: 'restarted',
      object: pod({ phase: 'Running', containerStatuses: [{ name: 'c', ...running, ...restarted }] }),
      want: ['1/1', 'Running', '3 (10m ago)'],
    },
    { name: 'the reason of the status', object: pod({ phase: 'Failed', reason: 'Evicted' }), want: ['0/1', 'Evicted', '0'] },
    {
      name: 'waiting',
      object: pod({ phase: 'Pending', containerStatuses: [{ name: 'c', state: { waiting: { reason: 'ImagePullBackOff' } } }] }),
      want: ['0/1', 'ImagePullBackOff', '0'],
    },
    {
      name: 'ended by a signal',
      object: pod({ phase: 'Failed', containerStatuses: [{ name: 'c', ...terminated(137, { signal: 9 }) }] }),
      want: ['0/1', 'Signal:9', '0'],
    },
    {
      name: 'ended with a code',
      object: pod({ phase: 'Failed', containerStatuses: [{ name: 'c', ...terminated(2) }] }),
      want: ['0/1', 'ExitCode:2', '0'],
    },
    {
      name: 'one container done, one running and the pod not ready',
      object: pod({
        phase: 'Running',
        containerStatuses: [
          { name: 'a', ...terminated(0, { reason: 'Completed' }) },
          { name: 'c', ...running },
        ],
      }),
      want: ['1/1', 'NotReady', '0'],
    },
    {
      name: 'one container done, one running, ready',
      object: pod({
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [
          { name: 'a', ...terminated(0, { reason: 'Completed' }) },
          { name: 'c', ...running },
        ],
      }),
      want: ['1/1', 'Running', '0'],
    },
    {
      name: 'scheduling gated',
      object: pod({ phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] }),
      want: ['0/1', 'SchedulingGated', '0'],
    },
    {
      name: 'the second init container',
      object: pod(
        {
          phase: 'Pending',
          initContainerStatuses: [
            { name: 'a', ...terminated(0) },
            { name: 'b', restartCount: 2, state: {} },
          ],
        },
        {},
        { containers: [{ name: 'c' }], initContainers: [{ name: 'a' }, { name: 'b' }] },
      ),
      want: ['0/1', 'Init:1/2', '2'],
    },
    {
      name: 'a failed init container',
      object: pod({ phase: 'Pending', initContainerStatuses: [{ name: 'a', ...terminated(1, { reason: 'Error' }) }] }),
      want: ['0/1', 'Init:Error', '0'],
    },
    {
      name: 'a sidecar',
      object: pod(
        {
          phase: 'Running',
          initContainerStatuses: [{ name: 's', started: true, restartCount: 1, ...running }],
          containerStatuses: [{ name: 'c', ...running }],
        },
        {},
        { containers: [{ name: 'c' }], initContainers: [{ name: 's', restartPolicy: 'Always' }] },
      ),
      want: ['2/2', 'Running', '1'],
    },
    { name: 'terminating', object: pod({ phase: 'Running' }, { deletionTimestamp: created }), want: ['0/1', 'Terminating', '0'] },
    {
      name: 'deleted after it ended',
      object: pod({ phase: 'Succeeded' }, { deletionTimestamp: created }),
      want: ['0/1', 'Succeeded', '0'],
    },
    {
      name: 'on a lost node',
      object: pod({ phase: 'Running', reason: 'NodeLost' }, { deletionTimestamp: created }),
      want: ['0/1', 'Unknown', '0'],
    },
  ])('$name', ({ object, want }) => {
    expect(cells('core/v1/pods', object).slice(1, 4)).toEqual(want);
  });

  it('shows wide columns', () => {
    const object = pod(
      {
        podIPs: [{ ip: '10.1.1.1' }, { ip: 'fd00::1' }],
        conditions: [
          { type: 'a', status: 'True' },
          { type: 'b', status: 'False' },
        ],
      },
      {},
      { nodeName: 'n', readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }] },
    );
    expect(cells('core/v1/pods', object).slice(4)).toEqual(['60m', '10.1.1.1', 'n', '<none>', '1/2']);
  });

  it('marks rows of completed pods', () => {
    const conditions = (phase: string) =>
      resources.get('core/v1/pods')!.rowConditions!({ ...pod({ phase }), apiVersion: 'v1', kind: 'Pod', metadata: {} });
    expect(conditions('Succeeded')).toEqual([
      { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' },
    ]);
    expect(conditions('constructor')).toEqual([]);
  });
});

describe('columns of other kinds', () => {
  it.each([
    {
      path: 'apps/v1/deployments',
      object: {
        spec: {
          replicas: 3,
          selector: { matchLabels: { b: '1', a: '2' } },
          template: {
            spec: {
              containers: [
                { name: 'c', image: 'i' },
                { name: 'd', image: 'j' },
              ],
            },
          },
        },
        status: { readyReplicas: 1, updatedReplicas: 2 },
      },
      want: ['x', '1/3', 2, 0, '60m', 'c,d', 'i,j', 'a=2,b=1'],
    },
    {
      path: 'batch/v1/jobs',
      object: { spec: { parallelism: 4 }, status: { startTime: created, succeeded: 2 } },
      want: ['x', 'Running', '2/1 of 4', '60m', '60m', '', '', '<none>'],
    },
    {
      path: 'batch/v1/jobs',
      object: {
        spec: { completions: 3 },
        status: {
          startTime: created,
          completionTime: '2026-11-21T11:00:45Z',
          succeeded: 3,
          conditions: [{ type: 'Complete', status: 'True' }],
        },
      },
      want: ['x', 'Complete', '3/3', '45s', '60m', '', '', '<none>'],
    },
    {
      path: 'batch/v1/cronjobs',
      object: { spec: { schedule: '* * * * *', suspend: false }, status: { active: [{}], lastScheduleTime: created } },
      want: ['x', '* * * * *', '<none>', 'False', 1, '60m', '60m', '', '', '<none>'],
    },
    {
      path: 'core/v1/services',
      object: {
        spec: {
          type: 'LoadBalancer',
          clusterIPs: ['10.0.0.1'],
          externalIPs: ['1.1.1.1'],
          ports: [
            { port: 80, protocol: 'TCP', nodePort: 30080 },
            { port: 53, protocol: 'UDP' },
          ],
        },
        status: { loadBalancer: { ingress: [{ ip: '5.5.5.5' }, { hostname: 'a' }, { ip: '5.5.5.5' }] } },
      },
      want: ['x', 'LoadBalancer', '10.0.0.1', '5.5.5.5,a,1.1.1.1', '80:30080/TCP,53/UDP', '60m', '<none>'],
    },
    {
      path: 'core/v1/services',
      object: { spec: { type: 'LoadBalancer' } },
      want: ['x', 'LoadBalancer', '<none>', '<pending>', '<none>', '60m', '<none>'],
    },
    {
      path: 'core/v1/endpoints',
      object: { subsets: [{ addresses: [{ ip: '1.1.1.1' }, { ip: 'fd00::1' }], ports: [{ port: 80 }, { port: 81 }] }] },
      want: ['x', '1.1.1.1:80,[fd00::1]:80,1.1.1.1:81 + 1 more...', '60m'],
    },
    {
      path: 'core/v1/nodes',
      object: {
        metadata: { labels: { 'node-role.kubernetes.io/b': '', 'kubernetes.io/role': 'a' } },
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: 'Ready', status: 'False' }],
          addresses: [{ type: 'InternalIP', address: '10.0.0.9' }],
          nodeInfo: { kubeletVersion: 'v1', kernelVersion: '6.1', architecture: 'amd64' },
        },
      },
      want: ['x', 'NotReady,SchedulingDisabled', 'a,b', '60m', 'v1', '10.0.0.9', '<none>', '<unknown>', '6.1 (amd64)', '<unknown>'],
    },
    {
      path: 'core/v1/persistentvolumeclaims',
      object: {
        spec: { volumeName: 'v', storageClassName: 's' },
        status: { phase: 'Bound', accessModes: ['ReadWriteMany', 'ReadWriteOnce'] },
      },
      want: ['x', 'Bound', 'v', '0', 'RWO,RWX', 's', '<unset>', '60m', '<unset>'],
    },
    {
      path: 'core/v1/resourcequotas',
      object: { status: { hard: { pods: '3', 'limits.cpu': '2', cpu: '1' }, used: { pods: '1' } } },
      want: ['x', 'cpu: 0/1, pods: 1/3', 'limits.cpu: 0/2', '60m'],
    },
    { path: 'core/v1/secrets', object: { type: 'Opaque', data: { a: '', b: '' } }, want: ['x', 'Opaque', 2, '60m'] },
    {
      path: 'core/v1/events',
      object: {
        reportingComponent: 'c',
        eventTime: '2026-11-21T11:59:00.000000Z',
        message: ' m\n',
        involvedObject: { kind: 'Pod', name: 'p' },
      },
      want: ['60s', '', '', 'pod/p', '', 'c', 'm', '60s', 1, 'x'],
    },
    {
      path: 'core/v1/events',
      object: {
        source: { component: 's', host: 'h' },
        series: { count: 5, lastObservedTime: '2026-11-21T11:59:30.000000Z' },
        firstTimestamp: created,
      },
      want: ['30s', '', '', '', '', 's, h', '', '60m', 5, 'x'],
    },
    {
      path: 'networking.k8s.io/v1/ingresses',
      object: { spec: { rules: [{ host: 'a' }, { host: 'b' }, { host: 'c' }, { host: 'd' }], tls: [{}] } },
      want: ['x', '<none>', 'a,b,c + 1 more...', '', '80, 443', '60m'],
    },
    {
      path: 'networking.k8s.io/v1/ipaddresses',
      object: { spec: { parentRef: { resource: 'services', namespace: 'n', name: 's' } } },
      want: ['x', 'services/n/s', '60m'],
    },
    {
      path: 'storage.k8s.io/v1/storageclasses',
      object: { metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } }, provisioner: 'p' },
      want: ['x (default)', 'p', 'Delete', 'Immediate', false, '60m'],
    },
    {
      path: 'rbac.authorization.k8s.io/v1/rolebindings',
      object: {
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: 'u' },
          { kind: 'ServiceAccount', name: 's', namespace: 'n' },
          { kind: 'User', name: 'v' },
        ],
      },
      want: ['x', 'Role/r', '60m', 'u, v', '', 'n/s'],
    },
    {
      path: 'certificates.k8s.io/v1/certificatesigningrequests',
      object: {
        spec: { username: 'u', signerName: 's', expirationSeconds: 86400 },
        status: { conditions: [{ type: 'Approved' }], certificate: 'AA==' },
      },
      want: ['x', '60m', 's', 'u', '24h', 'Approved,Issued'],
    },
    {
      path: 'autoscaling/v2/horizontalpodautoscalers',
      object: {
        spec: {
          scaleTargetRef: { kind: 'Deployment', name: 'd' },
          maxReplicas: 5,
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 60 } } },
            { type: 'Pods', pods: { target: { averageValue: '10' } } },
            { type: 'External' },
          ],
        },
        status: { currentMetrics: null },
      },
      want: ['x', 'Deployment/d', 'cpu: <unknown>/60%, <unknown>/10 + 1 more...', '<unset>', 5, 0, '60m'],
    },
    {
      path: 'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
      object: { spec: { policyName: 'p', paramRef: { selector: { matchLabels: { b: 'c', a: 'd' } } } } },
      want: ['x', 'p', '&LabelSelector{MatchLabels:map[string]string{a: d,b: c,},MatchExpressions:[]LabelSelectorRequirement{},}', '60m'],
    },
    { path: 'core/v1/limitranges', object: {}, want: ['x', created] },
  ])('$path', ({ path, object, want }) => {
    expect(cells(path, object)).toEqual(want);
  });

  it('sorts flow schemas by precedence in a table', () => {
    const { compareRows } = resources.get('flowcontrol.apiserver.k8s.io/v1/flowschemas')!;
    const schema = (name: string, matchingPrecedence: number) => ({
      apiVersion: '',
      kind: '',
      metadata: { name },
      spec: { matchingPrecedence },
    });
    expect([schema('b', 9), schema('a', 9), schema('c', 1)].sort(compareRows).map(({ metadata }) => metadata.name)).toEqual([
      'c',
      'a',
      'b',
    ]);
  });

  it('describes columns with the texts of the API, without the list of values', () => {
    const type = resources.get('core/v1/services')!.columns[1]!;
    expect(type.description).toMatch(/^type determines how the Service is exposed\./);
    expect(type.description).not.toMatch('Possible enum values');
  });
});

describe('labelSelectorText', () => {
  it.each([
    { selector: undefined, want: '' },
    { selector: { matchLabels: { b: '1' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['y', 'x'] }] }, want: 'a in (x,y),b=1' },
    {
      selector: {
        matchExpressions: [
          { key: 'a', operator: 'Exists' },
          { key: 'b', operator: 'DoesNotExist' },
          { key: 'c', operator: 'NotIn', values: ['z'] },
        ],
      },
      want: 'a,!b,c notin (z)',
    },
    { selector: { matchExpressions: [{ key: 'a', operator: 'Near' }] }, want: '<error>' },
  ])('$want', ({ selector, want }) => {
    expect(labelSelectorText(selector)).toBe(want);
    expect(formatLabelSelector(selector)).toBe(want || '<none>');
  });
});

it('listWithMore appends the number of further items', () => {
  expect([listWithMore([]), listWithMore(['a']), listWithMore(['a', 'b', 'c', 'd', 'e'])]).toEqual(['<unset>', 'a', 'a,b,c + 2 more...']);
});
