import type { ControllerClass } from '#apiserver/controllers/controller';
import { contributionOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';

/** A controller of the server that `--controllers` can name. */
interface BuiltInController {
  /** True if `*` leaves it out. */
  readonly isOffByDefault?: true;
  /** Loads its class, which is not needed unless it runs. */
  load(): Promise<ControllerClass>;
}

/** Controllers by name, in upstream's order. Upstream: cmd/kube-controller-manager/names and app/controller_descriptor.go. */
const controllers: Readonly<Record<string, BuiltInController>> = {
  'serviceaccount-token-controller': {
    load: async () =>
      (await import('#plugins/controllers/serviceaccount-token/serviceaccount-token-controller')).ServiceAccountTokenController,
  },
  'endpoints-controller': {
    load: async () => (await import('#plugins/controllers/endpoints/endpoints-controller')).EndpointsController,
  },
  'endpointslice-controller': {
    load: async () => (await import('#plugins/controllers/endpointslice/endpointslice-controller')).EndpointSliceController,
  },
  'endpointslice-mirroring-controller': {
    load: async () =>
      (await import('#plugins/controllers/endpointslice-mirroring/endpointslice-mirroring-controller')).EndpointSliceMirroringController,
  },
  'replicationcontroller-controller': {
    load: async () =>
      (await import('#plugins/controllers/replicationcontroller/replicationcontroller-controller')).ReplicationControllerController,
  },
  'pod-garbage-collector-controller': {
    load: async () =>
      (await import('#plugins/controllers/pod-garbage-collector/pod-garbage-collector-controller')).PodGarbageCollectorController,
  },
  'resourcequota-controller': {
    load: async () => (await import('#plugins/controllers/resourcequota/resourcequota-controller')).ResourceQuotaController,
  },
  'namespace-controller': {
    load: async () => (await import('#plugins/controllers/namespace/namespace-controller')).NamespaceController,
  },
  'serviceaccount-controller': {
    load: async () => (await import('#plugins/controllers/serviceaccount/serviceaccount-controller')).ServiceAccountController,
  },
  'garbage-collector-controller': {
    load: async () => (await import('#plugins/controllers/garbage-collector/garbage-collector-controller')).GarbageCollectorController,
  },
  'daemonset-controller': {
    load: async () => (await import('#plugins/controllers/daemonset/daemonset-controller')).DaemonSetController,
  },
  'job-controller': {
    load: async () => (await import('#plugins/controllers/job/job-controller')).JobController,
  },
  'deployment-controller': {
    load: async () => (await import('#plugins/controllers/deployment/deployment-controller')).DeploymentController,
  },
  'replicaset-controller': {
    load: async () => (await import('#plugins/controllers/replicaset/replicaset-controller')).ReplicaSetController,
  },
  'horizontal-pod-autoscaler-controller': {
    load: async () =>
      (await import('#plugins/controllers/horizontal-pod-autoscaler/horizontal-pod-autoscaler-controller'))
        .HorizontalPodAutoscalerController,
  },
  'disruption-controller': {
    load: async () => (await import('#plugins/controllers/disruption/disruption-controller')).DisruptionController,
  },
  'statefulset-controller': {
    load: async () => (await import('#plugins/controllers/statefulset/statefulset-controller')).StatefulSetController,
  },
  'cronjob-controller': {
    load: async () => (await import('#plugins/controllers/cronjob/cronjob-controller')).CronJobController,
  },
  'certificatesigningrequest-signing-controller': {
    load: async () =>
      (await import('#plugins/controllers/certificatesigningrequest/certificatesigningrequest-signing-controller'))
        .CertificateSigningRequestSigningController,
  },
  'certificatesigningrequest-approving-controller': {
    load: async () =>
      (await import('#plugins/controllers/certificatesigningrequest/certificatesigningrequest-approving-controller'))
        .CertificateSigningRequestApprovingController,
  },
  'certificatesigningrequest-cleaner-controller': {
    load: async () =>
      (await import('#plugins/controllers/certificatesigningrequest/certificatesigningrequest-cleaner-controller'))
        .CertificateSigningRequestCleanerController,
  },
  'ttl-controller': {
    load: async () => (await import('#plugins/controllers/ttl/ttl-controller')).TtlController,
  },
  'bootstrap-signer-controller': {
    isOffByDefault: true,
    load: async () => (await import('#plugins/controllers/bootstrap-signer/bootstrap-signer-controller')).BootstrapSignerController,
  },
  'token-cleaner-controller': {
    isOffByDefault: true,
    load: async () => (await import('#plugins/controllers/token-cleaner/token-cleaner-controller')).TokenCleanerController,
  },
  'node-ipam-controller': {
    load: async () => (await import('#plugins/controllers/node-ipam/node-ipam-controller')).NodeIpamController,
  },
  'node-lifecycle-controller': {
    load: async () => (await import('#plugins/controllers/node-lifecycle/node-lifecycle-controller')).NodeLifecycleController,
  },
  'taint-eviction-controller': {
    load: async () => (await import('#plugins/controllers/taint-eviction/taint-eviction-controller')).TaintEvictionController,
  },
  'device-taint-eviction-controller': {
    load: async () =>
      (await import('#plugins/controllers/device-taint-eviction/device-taint-eviction-controller')).DeviceTaintEvictionController,
  },
  'persistentvolume-binder-controller': {
    load: async () =>
      (await import('#plugins/controllers/persistentvolume-binder/persistentvolume-binder-controller')).PersistentVolumeBinderController,
  },
  'persistentvolume-expander-controller': {
    load: async () =>
      (await import('#plugins/controllers/persistentvolume-expander/persistentvolume-expander-controller'))
        .PersistentVolumeExpanderController,
  },
  'clusterrole-aggregation-controller': {
    load: async () =>
      (await import('#plugins/controllers/clusterrole-aggregation/clusterrole-aggregation-controller')).ClusterRoleAggregationController,
  },
  'persistentvolumeclaim-protection-controller': {
    load: async () =>
      (await import('#plugins/controllers/persistentvolumeclaim-protection/persistentvolumeclaim-protection-controller'))
        .PersistentVolumeClaimProtectionController,
  },
  'persistentvolume-protection-controller': {
    load: async () =>
      (await import('#plugins/controllers/persistentvolume-protection/persistentvolume-protection-controller'))
        .PersistentVolumeProtectionController,
  },
  'ttl-after-finished-controller': {
    load: async () => (await import('#plugins/controllers/ttl-after-finished/ttl-after-finished-controller')).TtlAfterFinishedController,
  },
  'root-ca-certificate-publisher-controller': {
    load: async () =>
      (await import('#plugins/controllers/root-ca-certificate/root-ca-certificate-publisher-controller')).RootCertificatePublisher,
  },
  'ephemeral-volume-controller': {
    load: async () => (await import('#plugins/controllers/ephemeral-volume/ephemeral-volume-controller')).EphemeralVolumeController,
  },
  'resourceclaim-controller': {
    load: async () => (await import('#plugins/controllers/resourceclaim/resourceclaim-controller')).ResourceClaimController,
  },
  'legacy-serviceaccount-token-cleaner-controller': {
    load: async () =>
      (await import('#plugins/controllers/legacy-serviceaccount-token-cleaner/legacy-serviceaccount-token-cleaner-controller'))
        .LegacyServiceAccountTokenCleanerController,
  },
  'validatingadmissionpolicy-status-controller': {
    load: async () =>
      (await import('#plugins/controllers/validatingadmissionpolicy-status/validatingadmissionpolicy-status-controller'))
        .ValidatingAdmissionPolicyStatusController,
  },
  'service-cidr-controller': {
    load: async () => (await import('#plugins/controllers/service-cidr/service-cidr-controller')).ServiceCidrController,
  },
  'storage-version-migrator-controller': {
    load: async () =>
      (await import('#plugins/controllers/storage-version-migrator/storage-version-migrator-controller')).StorageVersionMigratorController,
  },
  // Not upstream's.
  'policy-scan-controller': {
    isOffByDefault: true,
    load: async () => (await import('#plugins/controllers/policy-scan/policy-scan-controller')).PolicyScanController,
  },
};

/** Earlier names of controllers. Upstream: the aliases of cmd/kube-controller-manager/app. */
const aliases: Readonly<Record<string, string>> = {
  bootstrapsigner: 'bootstrap-signer-controller',
  'clusterrole-aggregation': 'clusterrole-aggregation-controller',
  cronjob: 'cronjob-controller',
  csrapproving: 'certificatesigningrequest-approving-controller',
  csrcleaner: 'certificatesigningrequest-cleaner-controller',
  csrsigning: 'certificatesigningrequest-signing-controller',
  daemonset: 'daemonset-controller',
  deployment: 'deployment-controller',
  disruption: 'disruption-controller',
  endpoint: 'endpoints-controller',
  endpointslice: 'endpointslice-controller',
  endpointslicemirroring: 'endpointslice-mirroring-controller',
  'ephemeral-volume': 'ephemeral-volume-controller',
  garbagecollector: 'garbage-collector-controller',
  horizontalpodautoscaling: 'horizontal-pod-autoscaler-controller',
  job: 'job-controller',
  'legacy-service-account-token-cleaner': 'legacy-serviceaccount-token-cleaner-controller',
  namespace: 'namespace-controller',
  nodeipam: 'node-ipam-controller',
  nodelifecycle: 'node-lifecycle-controller',
  'persistentvolume-binder': 'persistentvolume-binder-controller',
  'persistentvolume-expander': 'persistentvolume-expander-controller',
  podgc: 'pod-garbage-collector-controller',
  'pv-protection': 'persistentvolume-protection-controller',
  'pvc-protection': 'persistentvolumeclaim-protection-controller',
  replicaset: 'replicaset-controller',
  replicationcontroller: 'replicationcontroller-controller',
  'resource-claim-controller': 'resourceclaim-controller',
  resourcequota: 'resourcequota-controller',
  'root-ca-cert-publisher': 'root-ca-certificate-publisher-controller',
  serviceaccount: 'serviceaccount-controller',
  'serviceaccount-token': 'serviceaccount-token-controller',
  statefulset: 'statefulset-controller',
  svm: 'storage-version-migrator-controller',
  tokencleaner: 'token-cleaner-controller',
  ttl: 'ttl-controller',
  'ttl-after-finished': 'ttl-after-finished-controller',
};

/** Names of all controllers. */
export const controllerNames: readonly string[] = Object.keys(controllers);

/**
 * Returns a function that loads the controllers of a selection: `*` stands for all that run by default, `NAME` adds one, `-NAME` leaves one
 * out, `-*` alone selects none. Undefined if none is selected. Throws for an unknown name. Upstream:
 * controller-manager/app.IsControllerEnabled.
 */
export function selectedControllers(selection: readonly string[]): (() => Promise<LoadedContribution[]>) | undefined {
  const unknown = selection.find((name) => !/^-?\*$/.test(name) && !isControllerName(name.replace(/^-/, '')));
  if (unknown !== undefined) throw new Error(`unknown controller "${unknown.replace(/^-/, '')}"`);
  const selected = Object.entries(controllers).filter(([name]) => isSelected(selection, name));
  if (selected.length === 0) return undefined;
  return () => Promise.all(selected.map(async ([, { load }]) => contributionOf(await load())));
}

/** True for the name of a controller, also an earlier one. */
export function isControllerName(name: string): boolean {
  return Object.hasOwn(controllers, name) || Object.hasOwn(aliases, name);
}

/** True if a selection includes the controller: the first entry that names it decides, else `*`. */
export function isSelected(selection: readonly string[], name: string): boolean {
  for (const entry of selection) {
    const named = entry.replace(/^-/, '');
    if (named === name || (Object.hasOwn(aliases, named) && aliases[named] === name)) return named === entry;
  }
  return selection.includes('*') && !controllers[name]?.isOffByDefault;
}
