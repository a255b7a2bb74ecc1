/** A minimal valid object of each built-in kind, by `apiVersion kind`. */

type Json = Readonly<Record<string, unknown>>;

export const namespace = 'field-values';
/** Name of the objects whose base has none. */
export const name = 'swept';

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const jobTemplate = { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } };
const workload = { selector: { matchLabels: { a: 'b' } }, template };
const scaled = { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } };
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
const subjects = [{ kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' }];
const roleRef = (kind: string) => ({ kind, name: 'r', apiGroup: 'rbac.authorization.k8s.io' });
// They select no resource, so that they do not disturb other requests.
const selected = [{ apiGroups: [''], apiVersions: ['v1'], resources: ['none'], operations: ['CREATE'] }];
const webhooks = [
  { name: 'a.b.c', sideEffects: 'None', admissionReviewVersions: ['v1'], clientConfig: { url: 'https://a.b' }, rules: selected },
];
const devices = { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] };
const access = { verb: 'get', resource: 'pods' };

export const bases: Readonly<Record<string, Json>> = {
  'v1 ConfigMap': {},
  'v1 Endpoints': { subsets: [{ addresses: [{ ip: '1.2.3.4' }], ports: [{ port: 80 }] }] },
  'v1 Event': { involvedObject: { namespace, kind: 'Pod', name: 'p' } },
  'v1 LimitRange': { spec: { limits: [{ type: 'Container' }] } },
  'v1 Namespace': {},
  'v1 Node': {},
  'v1 PersistentVolume': { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } },
  'v1 PersistentVolumeClaim': { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  'v1 Pod': { spec: template.spec },
  'v1 PodTemplate': { template },
  'v1 ReplicationController': { spec: { selector: { a: 'b' }, template } },
  'v1 ResourceQuota': { spec: { hard: { pods: '1' } } },
  'v1 Secret': {},
  'v1 Service': { spec: { ports: [{ port: 80 }] } },
  'v1 ServiceAccount': {},
  'admissionregistration.k8s.io/v1 MutatingAdmissionPolicy': {
    spec: {
      matchConstraints: { resourceRules: selected },
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
    },
  },
  'admissionregistration.k8s.io/v1 MutatingWebhookConfiguration': { webhooks },
  'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy': {
    spec: { matchConstraints: { resourceRules: selected }, validations: [{ expression: 'true' }] },
  },
  'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding': { spec: { policyName: 'p', validationActions: ['Deny'] } },
  'admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration': { webhooks },
  'apiextensions.k8s.io/v1 CustomResourceDefinition': {
    metadata: { name: 'xs.a.b' },
    spec: {
      group: 'a.b',
      scope: 'Namespaced',
      names: { plural: 'xs', kind: 'X' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  },
  'apiregistration.k8s.io/v1 APIService': {
    metadata: { name: 'v1.a.b' },
    spec: {
      group: 'a.b',
      version: 'v1',
      groupPriorityMinimum: 5,
      versionPriority: 5,
      service: { name: 's', namespace: 'n' },
      insecureSkipTLSVerify: true,
    },
  },
  'apps/v1 ControllerRevision': { revision: 1, data: {} },
  'apps/v1 DaemonSet': { spec: workload },
  'apps/v1 Deployment': { spec: workload },
  'apps/v1 ReplicaSet': { spec: workload },
  'apps/v1 StatefulSet': { spec: { serviceName: 's', ...workload } },
  'authentication.k8s.io/v1 TokenReview': { spec: { token: 'x' } },
  'authorization.k8s.io/v1 LocalSubjectAccessReview': { spec: { user: 'u', resourceAttributes: { namespace, ...access } } },
  'authorization.k8s.io/v1 SelfSubjectAccessReview': { spec: { resourceAttributes: access } },
  'authorization.k8s.io/v1 SubjectAccessReview': { spec: { user: 'u', resourceAttributes: access } },
  'autoscaling/v1 HorizontalPodAutoscaler': { spec: scaled },
  'autoscaling/v2 HorizontalPodAutoscaler': { spec: scaled },
  'batch/v1 CronJob': { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: jobTemplate } } } },
  'batch/v1 Job': { spec: { template: jobTemplate } },
  'certificates.k8s.io/v1 CertificateSigningRequest': { spec: { request: 'eA==', signerName: 'a.b/c', usages: ['client auth'] } },
  'coordination.k8s.io/v1 Lease': { spec: { holderIdentity: 'h', leaseDurationSeconds: 5 } },
  'discovery.k8s.io/v1 EndpointSlice': { addressType: 'IPv4', endpoints: [{ addresses: ['1.2.3.4'] }], ports: [{ port: 80 }] },
  'events.k8s.io/v1 Event': {
    eventTime: '2020-01-01T00:00:00.000000Z',
    action: 'a',
    reason: 'r',
    reportingController: 'c.d/e',
    reportingInstance: 'i',
    type: 'Normal',
    regarding: { namespace, kind: 'Pod', name: 'p' },
  },
  'flowcontrol.apiserver.k8s.io/v1 FlowSchema': {
    spec: {
      priorityLevelConfiguration: { name: 'p' },
      matchingPrecedence: 5,
      rules: [{ subjects: [{ kind: 'User', user: { name: 'u' } }], nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] }],
    },
  },
  'flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration': {
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' } } },
  },
  'networking.k8s.io/v1 IPAddress': {
    metadata: { name: '10.0.0.9' },
    spec: { parentRef: { resource: 'services', name: 'x', namespace: 'y' } },
  },
  'networking.k8s.io/v1 Ingress': { spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } },
  'networking.k8s.io/v1 IngressClass': { spec: { controller: 'a.b/c' } },
  'networking.k8s.io/v1 NetworkPolicy': { spec: { podSelector: {} } },
  'networking.k8s.io/v1 ServiceCIDR': { spec: { cidrs: ['10.9.0.0/24'] } },
  'node.k8s.io/v1 RuntimeClass': { handler: 'h' },
  'policy/v1 PodDisruptionBudget': { spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } } },
  'rbac.authorization.k8s.io/v1 ClusterRole': { rules },
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': { subjects, roleRef: roleRef('ClusterRole') },
  'rbac.authorization.k8s.io/v1 Role': { rules },
  'rbac.authorization.k8s.io/v1 RoleBinding': { subjects, roleRef: roleRef('Role') },
  'resource.k8s.io/v1 DeviceClass': { spec: { selectors: [{ cel: { expression: 'true' } }] } },
  'resource.k8s.io/v1 ResourceClaim': { spec: { devices } },
  'resource.k8s.io/v1 ResourceClaimTemplate': { spec: { spec: { devices } } },
  'resource.k8s.io/v1 ResourceSlice': {
    spec: { driver: 'a.b', nodeName: 'n', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, devices: [{ name: 'd' }] },
  },
  'scheduling.k8s.io/v1 PriorityClass': { value: 5 },
  'storage.k8s.io/v1 CSIDriver': { spec: {} },
  'storage.k8s.io/v1 CSINode': { spec: { drivers: [{ name: 'd', nodeID: 'n' }] } },
  'storage.k8s.io/v1 CSIStorageCapacity': { storageClassName: 's' },
  'storage.k8s.io/v1 StorageClass': { provisioner: 'a.b/c' },
  'storage.k8s.io/v1 VolumeAttachment': { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } } },
  'storage.k8s.io/v1 VolumeAttributesClass': { driverName: 'd', parameters: { a: 'b' } },
};
