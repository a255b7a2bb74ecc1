import { contributionOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import type { KubeletCertificates, NodeShape } from '#plugins/nodes/options';

export interface SimulatedCluster {
  readonly nodes: readonly NodeShape[];
  /** Certificates of the kubelets; undefined: the nodes answer neither logs, exec, attach nor port-forward. */
  readonly kubelet: KubeletCertificates | undefined;
}

/** Loads the simulated nodes, their provisioner of volumes and load balancer, and the scheduler. */
export async function loadSimulatedNodes({ nodes, kubelet }: SimulatedCluster): Promise<LoadedContribution[]> {
  const [{ SimulatedNodes }, { SimulatedNodesOptions }, { SimulatedProvisioner }, { SimulatedLoadBalancer }, { Scheduler }] =
    await Promise.all([
      import('#plugins/nodes/simulated-nodes'),
      import('#plugins/nodes/options'),
      import('#plugins/nodes/storage/simulated-provisioner'),
      import('#plugins/nodes/service/simulated-load-balancer'),
      import('#plugins/scheduler/scheduler'),
    ]);
  const options = Object.assign(new SimulatedNodesOptions(), { nodes, kubelet });
  return [
    contributionOf(SimulatedNodes, options),
    contributionOf(SimulatedProvisioner),
    contributionOf(SimulatedLoadBalancer),
    contributionOf(Scheduler),
  ];
}
