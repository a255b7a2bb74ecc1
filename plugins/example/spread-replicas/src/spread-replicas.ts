import { AdmissionPlugin, type Attributes, type KubeObject } from 'kubenest/sdk';

interface Deployment extends KubeObject {
  readonly spec: {
    readonly selector?: object;
    readonly template: { spec: { topologySpreadConstraints?: object[] } };
  };
}

/** Spreads the pods of a Deployment over the nodes, as far as that goes, where it does not say how they are to be spread. */
@AdmissionPlugin({
  name: 'SpreadReplicas',
  match: [{ groups: ['apps'], resources: ['deployments'], operations: ['CREATE', 'UPDATE'] }],
})
export class SpreadReplicas {
  admit({ object: { spec } }: Attributes<Deployment>): void {
    if (!spec.selector || spec.template.spec.topologySpreadConstraints) return;
    const constraint = { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' };
    spec.template.spec.topologySpreadConstraints = [{ ...constraint, labelSelector: spec.selector }];
  }
}
