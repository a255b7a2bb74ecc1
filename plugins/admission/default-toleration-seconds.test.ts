import { admissionTable } from 'kubenest/sdk/testing';
import { main, pod } from './test-objects.ts';
import { DefaultTolerationSeconds } from './default-toleration-seconds.ts';

const tolerate = (key: string) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });
admissionTable(DefaultTolerationSeconds, [
  {
    name: 'both are added',
    object: pod(),
    want: {
      spec: {
        containers: [main],
        tolerations: [tolerate('node.kubernetes.io/not-ready'), tolerate('node.kubernetes.io/unreachable')],
      },
    },
  },
  { name: 'a pod that tolerates everything stays unchanged', object: pod({ tolerations: [{ operator: 'Exists' }] }) },
  {
    name: 'a toleration of another effect does not count',
    object: pod({
      tolerations: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }, tolerate('node.kubernetes.io/unreachable')],
    }),
    want: {
      spec: {
        containers: [main],
        tolerations: [
          { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
          tolerate('node.kubernetes.io/unreachable'),
          tolerate('node.kubernetes.io/not-ready'),
        ],
      },
    },
  },
]);
