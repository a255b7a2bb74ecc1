import { admissionTable } from 'kubenest/sdk/testing';
import { PersistentVolumeLabel } from './persistent-volume-label.ts';
import { object } from './test-objects.ts';

const zone = 'topology.kubernetes.io/zone';
const volume = (spec: object, metadata = {}) => object('v1', 'PersistentVolume', { spec }, metadata);
const disk = (pdName: string, rest: object = {}) => ({ gcePersistentDisk: { pdName }, ...rest });
const affinity = (...terms: object[]) => ({ nodeAffinity: { required: { nodeSelectorTerms: terms } } });
const inZone = (...values: string[]) => ({ key: zone, operator: 'In', values });
const other = { key: 'disk', operator: 'Exists' };
const rules = [
  { source: 'gcePersistentDisk', id: 'regional', labels: { [zone]: 'a__b' } },
  { source: 'gcePersistentDisk', id: '*', labels: { [zone]: 'a' } },
];
const configuration = { volumes: rules };

admissionTable(
  PersistentVolumeLabel,
  [
    {
      name: 'a disk in one zone',
      object: volume(disk('one')),
      want: { metadata: { name: 'x', labels: { [zone]: 'a' } }, spec: disk('one', affinity({ matchExpressions: [inZone('a')] })) },
    },
    {
      name: 'a disk in two zones, with an affinity to another key',
      object: volume(disk('regional', affinity({ matchExpressions: [other] }))),
      want: { spec: disk('regional', affinity({ matchExpressions: [other, inZone('a', 'b')] })) },
    },
    {
      name: 'an existing affinity stays',
      object: volume(disk('one', affinity({ matchExpressions: [inZone('c')] }))),
      want: { metadata: { name: 'x', labels: { [zone]: 'a' } }, spec: disk('one', affinity({ matchExpressions: [inZone('c')] })) },
    },
    { name: 'a local volume', object: volume({ hostPath: { path: '/' } }) },
    { name: 'a dynamically provisioned volume', object: volume(disk('one'), { annotations: { 'pv.kubernetes.io/provisioned-by': 'p' } }) },
  ],
  { configuration },
);
admissionTable(PersistentVolumeLabel, [{ name: 'no disk is known', object: volume(disk('one')) }]);
