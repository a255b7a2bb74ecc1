import type { GroupVersionKind } from '#apimachinery/meta/types';

/**
 * Versions of kinds that upstream's scheme has although no server serves them any more: an object of one is of another version, not
 * of an unknown kind. Where there is a list of the kind, it is registered too.
 */
const unserved: Readonly<Record<string, readonly string[]>> = {
  'admissionregistration.k8s.io/v1alpha1': ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'],
  'admissionregistration.k8s.io/v1beta1': [
    'MutatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'ValidatingWebhookConfiguration',
  ],
  'apps/v1beta1': ['ControllerRevision', 'Deployment', 'DeploymentRollback', 'Scale', 'StatefulSet'],
  'apps/v1beta2': ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'Scale', 'StatefulSet'],
  'authentication.k8s.io/v1alpha1': ['SelfSubjectReview'],
  'authentication.k8s.io/v1beta1': ['SelfSubjectReview', 'TokenReview'],
  'authorization.k8s.io/v1beta1': ['LocalSubjectAccessReview', 'SelfSubjectAccessReview', 'SelfSubjectRulesReview', 'SubjectAccessReview'],
  'batch/v1beta1': ['CronJob'],
  'certificates.k8s.io/v1beta1': ['CertificateSigningRequest'],
  'coordination.k8s.io/v1beta1': ['Lease'],
  'discovery.k8s.io/v1beta1': ['EndpointSlice'],
  'events.k8s.io/v1beta1': ['Event'],
  'extensions/v1beta1': ['DaemonSet', 'Deployment', 'DeploymentRollback', 'Ingress', 'NetworkPolicy', 'ReplicaSet', 'Scale'],
  'flowcontrol.apiserver.k8s.io/v1beta1': ['FlowSchema', 'PriorityLevelConfiguration'],
  'flowcontrol.apiserver.k8s.io/v1beta2': ['FlowSchema', 'PriorityLevelConfiguration'],
  'flowcontrol.apiserver.k8s.io/v1beta3': ['FlowSchema', 'PriorityLevelConfiguration'],
  'networking.k8s.io/v1beta1': ['Ingress', 'IngressClass'],
  'node.k8s.io/v1alpha1': ['RuntimeClass'],
  'node.k8s.io/v1beta1': ['RuntimeClass'],
  'policy/v1beta1': ['Eviction', 'PodDisruptionBudget'],
  'rbac.authorization.k8s.io/v1alpha1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'rbac.authorization.k8s.io/v1beta1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'scheduling.k8s.io/v1beta1': ['PriorityClass'],
  'storage.k8s.io/v1alpha1': ['CSIStorageCapacity', 'VolumeAttachment', 'VolumeAttributesClass'],
  'storage.k8s.io/v1beta1': ['CSIDriver', 'CSINode', 'CSIStorageCapacity', 'StorageClass', 'VolumeAttachment'],
};
const withoutList = /Review$|Rollback$|^Scale$|^Eviction$/;

const known: ReadonlySet<string> = new Set(
  Object.entries(unserved).flatMap(([groupVersion, kinds]) =>
    kinds.flatMap((kind) => [`${groupVersion} ${kind}`, ...(withoutList.test(kind) ? [] : [`${groupVersion} ${kind}List`])]),
  ),
);

/** True if upstream's scheme has the kind in a version that is not served any more. */
export function isUnservedKind({ group, version, kind }: GroupVersionKind): boolean {
  return known.has(`${group}/${version} ${kind}`);
}
