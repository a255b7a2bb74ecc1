import { AdmissionPlugin, type Attributes, newForbidden } from 'kubenest/sdk';
import type { Pod } from '../common/pod-walker.ts';

const hostnameLabel = 'kubernetes.io/hostname';

/**
 * Denies required pod anti-affinity with a topology key other than the hostname. Upstream:
 * kubernetes/plugin/pkg/admission/antiaffinity/admission.go.
 */
@AdmissionPlugin({
  name: 'LimitPodHardAntiAffinityTopology',
  match: [{ groups: [''], resources: ['pods'], operations: ['CREATE', 'UPDATE'] }],
})
export class LimitPodHardAntiAffinityTopology {
  validate({ object, resource }: Attributes<Pod>): void {
    const wrong = object.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.find(
      ({ topologyKey }) => topologyKey !== hostnameLabel,
    );
    if (!wrong) return;
    throw newForbidden(
      resource,
      object.metadata.name ?? '',
      `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${wrong.topologyKey ?? ''} but only key ${hostnameLabel} is allowed`,
    );
  }
}
