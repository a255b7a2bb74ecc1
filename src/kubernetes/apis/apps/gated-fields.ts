import type { GatedFields } from '#apiserver/registry/gated-fields';

/** Upstream: dropDisabledStatusFields in pkg/registry/apps/{deployment,replicaset}/strategy.go. */
export const terminatingReplicas: readonly GatedFields[] = [
  { gates: ['DeploymentReplicaSetTerminatingReplicas'], fields: ['status.terminatingReplicas'] },
];
