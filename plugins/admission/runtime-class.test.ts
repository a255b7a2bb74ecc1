import { admissionTable, fakeInformers } from 'kubenest/sdk/testing';
import { RuntimeClass } from './runtime-class.ts';
import { object, pod } from './test-objects.ts';

const runtimeClass = (name: string, rest: object) => object('node.k8s.io/v1', 'RuntimeClass', { handler: 'h', ...rest }, { name });
const toleration = { key: 'sandbox', operator: 'Exists' };
const informers = fakeInformers({
  'runtimeclasses.node.k8s.io': [
    runtimeClass('heavy', { overhead: { podFixed: { memory: '64Mi' } } }),
    runtimeClass('placed', { scheduling: { nodeSelector: { sandbox: 'yes' }, tolerations: [toleration] } }),
  ],
});
const containers = [{ name: 'main', image: 'image' }];

admissionTable(
  RuntimeClass,
  [
    { name: 'a pod without a class', object: pod() },
    { name: 'an empty class name', object: pod({ runtimeClassName: '' }), fails: /^resource name may not be empty$/ },
    { name: 'overhead without a class', object: pod({ overhead: { memory: '1Mi' } }), denied: /Pod Overhead set without corresponding/ },
    {
      name: 'the overhead of the class',
      object: pod({ runtimeClassName: 'heavy' }),
      want: { spec: { containers, runtimeClassName: 'heavy', overhead: { memory: '64Mi' } } },
    },
    {
      name: 'an overhead that differs from the class',
      object: pod({ runtimeClassName: 'heavy', overhead: { memory: '1Mi' } }),
      denied: /Pod's Overhead doesn't match/,
    },
    {
      name: 'the scheduling of the class',
      object: pod({
        runtimeClassName: 'placed',
        nodeSelector: { disk: 'ssd' },
        tolerations: [{ key: 'sandbox', operator: 'Equal', value: 'a' }],
      }),
      want: {
        spec: { containers, runtimeClassName: 'placed', nodeSelector: { disk: 'ssd', sandbox: 'yes' }, tolerations: [toleration] },
      },
    },
    {
      name: 'a conflicting selector',
      object: pod({ runtimeClassName: 'placed', nodeSelector: { sandbox: 'no' } }),
      denied: /conflict: runtimeClass.scheduling.nodeSelector\[sandbox\] = yes; pod.spec.nodeSelector\[sandbox\] = no/,
    },
    { name: 'an unknown class', object: pod({ runtimeClassName: 'none' }), denied: /pod rejected: RuntimeClass "none" not found/ },
  ],
  { informers },
);
