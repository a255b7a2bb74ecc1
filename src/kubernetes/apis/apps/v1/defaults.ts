/** Defaults of workloads. Upstream: pkg/apis/apps/v1/defaults.go and zz_generated.defaults.go. */
import { defaultPersistentVolumeClaim, defaultPodTemplateSpec } from '#kubernetes/apis/core/v1/defaults';
import type { DaemonSet, Deployment, ReplicaSet, StatefulSet } from '#kubernetes/schema/apps_v1.gen';

export function defaultDeployment(deployment: Deployment): void {
  const spec = (deployment.spec ??= {});
  spec.replicas ??= 1;
  const strategy = (spec.strategy ??= {});
  if (!strategy.type) strategy.type = 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    const rollingUpdate = (strategy.rollingUpdate ??= {});
    rollingUpdate.maxUnavailable ??= '25%';
    rollingUpdate.maxSurge ??= '25%';
  }
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
  defaultPodTemplateSpec((spec.template ??= {}));
}

export function defaultDaemonSet(daemonSet: DaemonSet): void {
  const spec = (daemonSet.spec ??= {});
  const strategy = (spec.updateStrategy ??= {});
  if (!strategy.type) strategy.type = 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    const rollingUpdate = (strategy.rollingUpdate ??= {});
    rollingUpdate.maxUnavailable ??= 1;
    rollingUpdate.maxSurge ??= 0;
  }
  spec.revisionHistoryLimit ??= 10;
  defaultPodTemplateSpec((spec.template ??= {}));
}

export function defaultStatefulSet(statefulSet: StatefulSet): void {
  const spec = (statefulSet.spec ??= {});
  if (!spec.podManagementPolicy) spec.podManagementPolicy = 'OrderedReady';
  const strategy = (spec.updateStrategy ??= {});
  if (!strategy.type) {
    strategy.type = 'RollingUpdate';
    strategy.rollingUpdate ??= {};
  }
  // A strategy that only has a type gets no partition.
  if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate !== undefined) strategy.rollingUpdate.partition ??= 0;
  const retention = (spec.persistentVolumeClaimRetentionPolicy ??= {});
  if (!retention.whenDeleted) retention.whenDeleted = 'Retain';
  if (!retention.whenScaled) retention.whenScaled = 'Retain';
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  defaultPodTemplateSpec((spec.template ??= {}));
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.apiVersion = 'v1';
    claim.kind = 'PersistentVolumeClaim';
    defaultPersistentVolumeClaim(claim);
  }
}

export function defaultReplicaSet(replicaSet: ReplicaSet): void {
  const spec = (replicaSet.spec ??= {});
  spec.replicas ??= 1;
  defaultPodTemplateSpec((spec.template ??= {}));
}
