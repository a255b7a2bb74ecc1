import type { KubeObject } from 'kubenest/sdk';
import { reconcileTable } from 'kubenest/sdk/testing';
import { startTestCluster } from 'kubenest/testing';
import type { PersistentVolume, PersistentVolumeClaim } from 'kubenest/types/core_v1';
import { expect, it, vi } from 'vitest';
import { partialObject } from '../common/testing/partial-object.ts';
import { Workloads } from '../common/testing/workload-cluster.ts';
import { PersistentVolumeBinderController } from './persistentvolume-binder-controller.ts';

interface ClaimParts {
  readonly annotations?: Record<string, string>;
  readonly spec?: object;
  readonly status?: object;
}
const claim = ({ annotations, spec, status = { phase: 'Pending' } }: ClaimParts = {}): KubeObject =>
  partialObject({
    metadata: { name: 'c', namespace: 'ns', uid: 'u', ...(annotations && { annotations }) },
    spec: { storageClassName: '', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } }, ...spec },
    status,
  });
const volume = (name: string, spec: object = {}, phase = 'Available', metadata: object = {}): KubeObject =>
  partialObject({
    metadata: { name, uid: `uid-${name}`, ...metadata },
    spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '5Gi' }, persistentVolumeReclaimPolicy: 'Retain', ...spec },
    status: { phase },
  });
const storageClass = (name: string, provisioner: string, volumeBindingMode = 'Immediate', annotations = {}): KubeObject =>
  partialObject({ metadata: { name, annotations }, provisioner, volumeBindingMode });
const classes = [
  storageClass('fast', 'example.com/fast'),
  storageClass('late', 'example.com/late', 'WaitForFirstConsumer'),
  storageClass('local', 'kubernetes.io/no-provisioner'),
];
const objects = (claims: KubeObject[], volumes: KubeObject[] = [], pods: KubeObject[] = [], more: KubeObject[] = []): object => ({
  'storageclasses.storage.k8s.io': [...classes, ...more],
  persistentvolumeclaims: claims,
  persistentvolumes: volumes,
  pods,
});
const row = (name: string, ...given: Parameters<typeof objects>): { name: string; objects: Record<string, KubeObject[]> } => ({
  name,
  objects: objects(...given) as Record<string, KubeObject[]>,
});
const bindWrites = (name: string): string[] => [
  `update persistentvolumes ${name}`,
  `update persistentvolumes/status ${name}`,
  'update persistentvolumeclaims ns/c',
  'update persistentvolumeclaims/status ns/c',
];
const boundTo = (name: string): Record<string, Record<string, object>> => ({
  persistentvolumes: { [name]: { spec: { claimRef: { uid: 'u', name: 'c', namespace: 'ns' } }, status: { phase: 'Bound' } } },
  persistentvolumeclaims: {
    'ns/c': {
      metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
      spec: { volumeName: name },
      status: { phase: 'Bound', capacity: { storage: '5Gi' }, accessModes: ['ReadWriteOnce'] },
    },
  },
});
const bound = { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' };
const claimRef = (uid?: string, name = 'c'): object => ({ claimRef: { namespace: 'ns', name, ...(uid && { uid }) } });
const nothingFree = 'no persistent volumes available for this claim and no storage class is set';
const noClass = { type: 'Normal', reason: 'FailedBinding', message: nothingFree } as const;
const warning = (reason: string, message: string): { type: 'Warning'; reason: string; message: string } => ({
  type: 'Warning',
  reason,
  message,
});

reconcileTable(PersistentVolumeBinderController, [
  {
    ...row(
      'binds the smallest volume that fits',
      [claim()],
      [volume('small', { capacity: { storage: '1Gi' } }), volume('large', { capacity: { storage: '50Gi' } }), volume('fits')],
    ),
    request: 'ns/c',
    writes: bindWrites('fits'),
    want: boundTo('fits'),
  },
  {
    ...row(
      'prefers volumes with fewer access modes',
      [claim()],
      [volume('many', { accessModes: ['ReadWriteOnce', 'ReadWriteMany'] }), volume('one', { capacity: { storage: '9Gi' } })],
    ),
    request: 'ns/c',
    writes: bindWrites('one'),
  },
  {
    ...row('takes the volume that is reserved for it', [claim()], [volume('free'), volume('reserved', claimRef())]),
    request: 'ns/c',
    writes: bindWrites('reserved'),
    want: boundTo('reserved'),
  },
  {
    ...row(
      'reports that nothing fits',
      [claim({ spec: { selector: { matchLabels: { a: 'b' } } } })],
      [
        volume('class', { storageClassName: 'fast' }),
        volume('mode', { volumeMode: 'Block' }),
        volume('access', { accessModes: ['ReadOnlyMany'] }),
        volume('taken', claimRef('other', 'other')),
        volume('labels'),
        volume('pending', {}, 'Pending', { labels: { a: 'b' } }),
      ],
    ),
    request: 'ns/c',
    events: [noClass],
    result: { requeueAfterMs: 15_000 },
  },
  {
    ...row('asks the external provisioner', [claim({ spec: { storageClassName: 'fast' } })]),
    request: 'ns/c',
    writes: ['update persistentvolumeclaims ns/c'],
    want: {
      persistentvolumeclaims: {
        'ns/c': {
          metadata: {
            annotations: {
              'volume.kubernetes.io/storage-provisioner': 'example.com/fast',
              'volume.beta.kubernetes.io/storage-provisioner': 'example.com/fast',
            },
          },
        },
      },
    },
    events: [
      {
        type: 'Normal',
        reason: 'ExternalProvisioning',
        message:
          "Waiting for a volume to be created either by the external provisioner 'example.com/fast' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.",
      },
    ],
  },
  {
    ...row('reports a class without a plugin', [claim({ spec: { storageClassName: 'local' } })]),
    request: 'ns/c',
    events: [warning('ProvisioningFailed', 'no volume plugin matched name: kubernetes.io/no-provisioner')],
  },
  {
    ...row('reports an unknown class', [claim({ spec: { storageClassName: 'none' } })]),
    request: 'ns/c',
    events: [warning('ProvisioningFailed', 'storageclass.storage.k8s.io "none" not found')],
  },
  {
    ...row('waits for the first consumer', [claim({ spec: { storageClassName: 'late' } })], [volume('v', { storageClassName: 'late' })]),
    request: 'ns/c',
    events: [{ type: 'Normal', reason: 'WaitForFirstConsumer', message: 'waiting for first consumer to be created before binding' }],
  },
  {
    ...row(
      'waits for the pod to be scheduled',
      [claim({ spec: { storageClassName: 'late' } })],
      [],
      [
        partialObject({
          metadata: { name: 'p', namespace: 'ns' },
          spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] },
        }),
      ],
    ),
    request: 'ns/c',
    events: [{ type: 'Normal', reason: 'WaitForPodScheduled', message: 'waiting for pod p to be scheduled' }],
  },
  {
    ...row(
      'gives the default class to a claim without one',
      [claim({ spec: { storageClassName: undefined } })],
      [],
      [],
      [storageClass('std', 'example.com/std', 'Immediate', { 'storageclass.kubernetes.io/is-default-class': 'true' })],
    ),
    request: 'ns/c',
    writes: ['update persistentvolumeclaims ns/c'],
    want: { persistentvolumeclaims: { 'ns/c': { spec: { storageClassName: 'std' } } } },
  },
  {
    ...row(
      'rejects a named volume that does not fit',
      [claim({ spec: { volumeName: 'v' } })],
      [volume('v', { capacity: { storage: '1Gi' } })],
    ),
    request: 'ns/c',
    events: [warning('VolumeMismatch', 'Cannot bind to requested volume "v": requested PV is too small')],
  },
  {
    ...row(
      'waits for a named volume of another claim',
      [claim({ spec: { volumeName: 'v' } })],
      [volume('v', claimRef('x', 'other'), 'Bound')],
    ),
    request: 'ns/c',
    events: [warning('FailedBinding', 'volume "v" already bound to a different claim.')],
  },
  {
    ...row('loses a claim whose volume is gone', [
      claim({ annotations: bound, spec: { volumeName: 'v' }, status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: {} } }),
    ]),
    request: 'ns/c',
    writes: ['update persistentvolumeclaims/status ns/c'],
    want: { persistentvolumeclaims: { 'ns/c': { status: { phase: 'Lost' } } } },
    events: [warning('ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!')],
  },
  {
    ...row(
      'loses a claim whose volume belongs to another one',
      [claim({ annotations: bound, spec: { volumeName: 'v' }, status: { phase: 'Bound' } })],
      [volume('v', claimRef('x', 'other'), 'Bound')],
    ),
    request: 'ns/c',
    writes: ['update persistentvolumeclaims/status ns/c'],
    events: [warning('ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly')],
  },
  {
    ...row('makes a new volume available', [], [volume('v', {}, 'Pending')]),
    request: 'v',
    writes: ['update persistentvolumes/status v'],
    want: { persistentvolumes: { v: { status: { phase: 'Available' } } } },
  },
  {
    ...row('releases and keeps the volume of a deleted claim', [], [volume('v', claimRef('u'), 'Bound')]),
    request: 'v',
    writes: ['update persistentvolumes/status v'],
    want: { persistentvolumes: { v: { status: { phase: 'Released' } } } },
  },
  {
    ...row(
      'deletes a hostPath volume under /tmp',
      [],
      [volume('v', { ...claimRef('u'), persistentVolumeReclaimPolicy: 'Delete', hostPath: { path: '/tmp/v' } }, 'Bound')],
    ),
    request: 'v',
    writes: ['update persistentvolumes/status v', 'delete persistentvolumes v'],
  },
  {
    ...row(
      'fails to delete a volume without a plugin',
      [],
      [volume('v', { ...claimRef('u'), persistentVolumeReclaimPolicy: 'Delete', nfs: { server: 's', path: '/' } }, 'Released')],
    ),
    request: 'v',
    writes: ['update persistentvolumes/status v'],
    events: [warning('VolumeFailedDelete', 'error getting deleter volume plugin for volume "v": no deletable volume plugin matched')],
  },
  {
    ...row(
      'leaves the deletion to the external provisioner',
      [],
      [volume('v', { ...claimRef('u'), persistentVolumeReclaimPolicy: 'Delete', csi: { driver: 'd', volumeHandle: 'h' } }, 'Released')],
    ),
    request: 'v',
  },
  {
    ...row(
      'unbinds a volume whose claim is bound elsewhere',
      [claim({ annotations: bound, spec: { volumeName: 'other' } })],
      [volume('v', claimRef('u'), 'Bound', { annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } })],
    ),
    request: 'v',
    writes: ['update persistentvolumes v', 'update persistentvolumes/status v'],
    want: { persistentvolumes: { v: { status: { phase: 'Available' } } } },
  },
]);

it('binds claims and volumes in either order, and releases the volume', async () => {
  await using cluster = await startTestCluster({ controllers: ['persistentvolume-binder-controller'] });
  const workloads = new Workloads(cluster);
  const spec = { storageClassName: 'manual', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const addVolume = async (name: string): Promise<void> => {
    const body = {
      metadata: { name },
      spec: {
        storageClassName: 'manual',
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '2Gi' },
        hostPath: { path: '/data' },
        persistentVolumeReclaimPolicy: 'Retain',
      },
    };
    expect((await cluster.fetch('/api/v1/persistentvolumes', { body })).status).toBe(201);
  };
  const phaseOf = async (name: string): Promise<string | undefined> =>
    ((await (await cluster.fetch(`/api/v1/persistentvolumes/${name}`)).json()) as PersistentVolume).status?.phase;
  await addVolume('first');
  await workloads.create('persistentvolumeclaims', { metadata: { name: 'a' }, spec });
  await workloads.create('persistentvolumeclaims', { metadata: { name: 'b' }, spec });
  await vi.waitFor(async () => expect(await phaseOf('first')).toBe('Bound'));
  await addVolume('second');
  await vi.waitFor(async () => {
    const claims = await workloads.list<PersistentVolumeClaim>('persistentvolumeclaims');
    expect(claims.map(({ status }) => status)).toEqual(
      Array.from({ length: 2 }, () => ({ phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' } })),
    );
    expect(new Set(claims.map(({ spec: bound }) => bound?.volumeName))).toEqual(new Set(['first', 'second']));
  });
  const a = await workloads.get<PersistentVolumeClaim>('persistentvolumeclaims', 'a');
  await workloads.patch('persistentvolumeclaims', 'a', { metadata: { finalizers: null } });
  await workloads.remove('persistentvolumeclaims', 'a');
  await vi.waitFor(async () => expect(await phaseOf(a.spec?.volumeName ?? '')).toBe('Released'));
}, 30_000);
