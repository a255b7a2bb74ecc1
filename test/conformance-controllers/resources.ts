/** Group version, resource and scope of the kinds that scenarios use. */
const kinds: Readonly<Record<string, readonly [groupVersion: string, resource: string, scope?: 'Cluster']>> = {
  CSINode: ['apis/storage.k8s.io/v1', 'csinodes', 'Cluster'],
  CertificateSigningRequest: ['apis/certificates.k8s.io/v1', 'certificatesigningrequests', 'Cluster'],
  ClusterRole: ['apis/rbac.authorization.k8s.io/v1', 'clusterroles', 'Cluster'],
  ConfigMap: ['api/v1', 'configmaps'],
  ControllerRevision: ['apis/apps/v1', 'controllerrevisions'],
  CronJob: ['apis/batch/v1', 'cronjobs'],
  CustomResourceDefinition: ['apis/apiextensions.k8s.io/v1', 'customresourcedefinitions', 'Cluster'],
  DaemonSet: ['apis/apps/v1', 'daemonsets'],
  Deployment: ['apis/apps/v1', 'deployments'],
  DeviceClass: ['apis/resource.k8s.io/v1', 'deviceclasses', 'Cluster'],
  DeviceTaintRule: ['apis/resource.k8s.io/v1beta2', 'devicetaintrules', 'Cluster'],
  EndpointSlice: ['apis/discovery.k8s.io/v1', 'endpointslices'],
  Endpoints: ['api/v1', 'endpoints'],
  Event: ['api/v1', 'events'],
  HorizontalPodAutoscaler: ['apis/autoscaling/v2', 'horizontalpodautoscalers'],
  Job: ['apis/batch/v1', 'jobs'],
  Namespace: ['api/v1', 'namespaces', 'Cluster'],
  Node: ['api/v1', 'nodes', 'Cluster'],
  PersistentVolume: ['api/v1', 'persistentvolumes', 'Cluster'],
  PersistentVolumeClaim: ['api/v1', 'persistentvolumeclaims'],
  Pod: ['api/v1', 'pods'],
  PodGroup: ['apis/scheduling.k8s.io/v1alpha2', 'podgroups'],
  PodDisruptionBudget: ['apis/policy/v1', 'poddisruptionbudgets'],
  PriorityClass: ['apis/scheduling.k8s.io/v1', 'priorityclasses', 'Cluster'],
  ReplicaSet: ['apis/apps/v1', 'replicasets'],
  ReplicationController: ['api/v1', 'replicationcontrollers'],
  ResourceClaim: ['apis/resource.k8s.io/v1', 'resourceclaims'],
  ResourceClaimTemplate: ['apis/resource.k8s.io/v1', 'resourceclaimtemplates'],
  ExternalMetricValue: ['apis/external.metrics.k8s.io/v1beta1', 'queues'],
  ResourceQuota: ['api/v1', 'resourcequotas'],
  ResourceSlice: ['apis/resource.k8s.io/v1', 'resourceslices', 'Cluster'],
  Secret: ['api/v1', 'secrets'],
  Service: ['api/v1', 'services'],
  ServiceAccount: ['api/v1', 'serviceaccounts'],
  ServiceCIDR: ['apis/networking.k8s.io/v1', 'servicecidrs', 'Cluster'],
  StatefulSet: ['apis/apps/v1', 'statefulsets'],
  StorageClass: ['apis/storage.k8s.io/v1', 'storageclasses', 'Cluster'],
  StorageVersionMigration: ['apis/storagemigration.k8s.io/v1beta1', 'storageversionmigrations', 'Cluster'],
  ValidatingAdmissionPolicy: ['apis/admissionregistration.k8s.io/v1', 'validatingadmissionpolicies', 'Cluster'],
};

/** Returns the path of a kind's collection, or of an object of it. Throws for a kind that is not in the table. */
export function pathOf(kind: string, namespace: string, name?: string): string {
  const row = kinds[kind];
  if (row === undefined) throw new Error(`unknown kind ${JSON.stringify(kind)}: add it to resources.ts`);
  const [groupVersion, resource, scope] = row;
  const parent = scope === 'Cluster' ? groupVersion : `${groupVersion}/namespaces/${namespace}`;
  return `/${parent}/${resource}${name === undefined ? '' : `/${name}`}`;
}
