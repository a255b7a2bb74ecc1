import { AdmissionPlugin, type Attributes, type Draft, requestsFor } from 'kubenest/sdk';
import { Deployment } from 'kubenest/kinds';

/** Spreads the pods of a Deployment over nodes on a best-effort basis unless it has its own constraints. */
@AdmissionPlugin({ name: 'SpreadReplicas', match: [requestsFor(Deployment, 'CREATE', 'UPDATE')] })
export class SpreadReplicas {
  admit({ object: { spec } }: Attributes<Draft<Deployment>>): void {
    const pod = spec?.template?.spec;
    if (!pod || !spec.selector || pod.topologySpreadConstraints) return;
    const constraint = { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' } as const;
    pod.topologySpreadConstraints = [{ ...constraint, labelSelector: spec.selector }];
  }
}
