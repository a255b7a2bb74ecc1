import { contributionOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import type { KubeletCertificates, NodeShape } from '#plugins/nodes/options';
import type { SchedulerConfiguration } from '#plugins/scheduler/configuration/scheduler-configuration';
import type { StageObject } from '#plugins/nodes/stages/stage-types';

export interface SimulatedCluster {
  readonly nodes: readonly NodeShape[];
  /** Stages of their pods. */
  readonly stages?: readonly StageObject[];
  /** Ports of 127.0.0.1 to which their pods may forward. */
  readonly forwardPorts?: readonly number[] | undefined;
  /** Certificates of the kubelets; undefined: the nodes answer neither logs, exec, attach nor port-forward. */
  readonly kubelet: KubeletCertificates | undefined;
  /** Default: upstream's default profile. */
  readonly scheduler?: SchedulerConfiguration | undefined;
}

/** Loads the simulated nodes with their metrics, provisioner of volumes and load balancer, and the scheduler. */
export async function loadSimulatedNodes({
  nodes,
  stages = [],
  forwardPorts = [],
  kubelet,
  scheduler,
}: SimulatedCluster): Promise<LoadedContribution[]> {
  const [
    { SimulatedNodes },
    { SimulatedNodesOptions },
    { resourceMetrics },
    { SimulatedProvisioner },
    { SimulatedLoadBalancer },
    { Scheduler },
    { SchedulerConfiguration },
  ] = await Promise.all([
    import('#plugins/nodes/simulated-nodes'),
    import('#plugins/nodes/options'),
    import('#plugins/nodes/metrics/resource-metrics'),
    import('#plugins/nodes/storage/simulated-provisioner'),
    import('#plugins/nodes/service/simulated-load-balancer'),
    import('#plugins/scheduler/scheduler'),
    import('#plugins/scheduler/configuration/scheduler-configuration'),
  ]);
  const options = Object.assign(new SimulatedNodesOptions(), { nodes, stages, forwardPorts, kubelet });
  return [
    contributionOf(SimulatedNodes, options),
    contributionOf(Scheduler, scheduler ?? new SchedulerConfiguration()),
    ...[SimulatedProvisioner, SimulatedLoadBalancer, ...resourceMetrics()].map((one) => contributionOf(one)),
  ];
}
