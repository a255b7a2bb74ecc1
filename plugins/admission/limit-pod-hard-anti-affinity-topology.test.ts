import { admissionTable } from 'kubenest/sdk/testing';
import { LimitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts';
import { pod } from './test-objects.ts';

const affinity = (topologyKey: string) => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] } },
});
admissionTable(LimitPodHardAntiAffinityTopology, [
  { name: 'topology key hostname', object: pod(affinity('kubernetes.io/hostname')) },
  {
    name: 'topology key zone',
    object: pod(affinity('zone')),
    denied: /has TopologyKey zone but only key kubernetes.io\/hostname is allowed/,
  },
]);
