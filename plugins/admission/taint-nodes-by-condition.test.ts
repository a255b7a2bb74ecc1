import { admissionTable } from 'kubenest/sdk/testing';
import { object } from './test-objects.ts';
import { TaintNodesByCondition } from './taint-nodes-by-condition.ts';

admissionTable(TaintNodesByCondition, [
  {
    name: 'a new node is tainted',
    object: object('v1', 'Node'),
    want: { spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } },
  },
  {
    name: 'an already tainted node stays unchanged',
    object: object('v1', 'Node', { spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } }),
  },
  { name: 'an update changes nothing', object: object('v1', 'Node'), oldObject: object('v1', 'Node') },
]);
