import type { KubeObject } from 'kubenest/sdk';
import { reconcileTable } from 'kubenest/sdk/testing';
import { partialObject } from '../common/testing/partial-object.ts';
import { PersistentVolumeExpanderController } from './persistentvolume-expander-controller.ts';

const objects = (request: string, uid: string): Record<string, KubeObject[]> => ({
  persistentvolumeclaims: [
    partialObject({
      metadata: { name: 'c', namespace: 'ns', uid: 'u' },
      spec: { volumeName: 'v', resources: { requests: { storage: request } } },
      status: { phase: 'Bound', capacity: { storage: '1Gi' } },
    }),
  ],
  persistentvolumes: [partialObject({ metadata: { name: 'v' }, spec: { claimRef: { namespace: 'ns', name: 'c', uid } } })],
});

reconcileTable(PersistentVolumeExpanderController, [
  {
    name: 'reports a claim that is to grow',
    objects: objects('2Gi', 'u'),
    request: 'ns/c',
    events: [{ type: 'Normal', reason: 'ExternalExpanding', message: 'waiting for an external controller to expand this PVC' }],
  },
  { name: 'leaves a claim of the right size alone', objects: objects('1Gi', 'u'), request: 'ns/c' },
  { name: 'fails for a volume of another claim', objects: objects('2Gi', 'x'), request: 'ns/c', fails: /not bound to PVC/ },
]);
