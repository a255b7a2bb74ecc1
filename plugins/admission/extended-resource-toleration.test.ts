import { admissionTable } from 'kubenest/sdk/testing';
import { ExtendedResourceToleration } from './extended-resource-toleration.ts';
import { main, pod } from './test-objects.ts';

const asking = (requests: object) => ({ containers: [{ ...main, resources: { requests } }] });
admissionTable(ExtendedResourceToleration, [
  { name: 'native resources', object: pod(asking({ cpu: '1', 'hugepages-2Mi': '2Mi' })) },
  {
    name: 'extended resources',
    object: pod(asking({ 'example.com/gpu': '1' })),
    want: {
      spec: { ...asking({ 'example.com/gpu': '1' }), tolerations: [{ key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' }] },
    },
  },
]);
