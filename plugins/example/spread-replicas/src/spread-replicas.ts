import { AdmissionPlugin, type Attributes } from 'kubenest/sdk';
import type { Deployment } from 'kubenest/types/apps_v1';

/** Spreads the pods of a Deployment over nodes on a best-effort basis unless it has its own constraints. */
@AdmissionPlugin({
  name: 'SpreadReplicas',
  match: [{ groups: ['apps'], resources: ['deployments'], operations: ['CREATE', 'UPDATE'] }],
})
export class SpreadReplicas {
  admit({ object: { spec } }: Attributes<Deployment>): void {
    const pod = spec?.template?.spec;
    if (!pod || !spec.selector || pod.topologySpreadConstraints) return;
    const constraint = { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' };
    pod.topologySpreadConstraints = [{ ...constraint, labelSelector: spec.selector }];
  }
}
