import type { AdmissionPluginClass } from '#apiserver/admission/attributes';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import type { Informers } from '#apiserver/registry/informers';
import { AlwaysAdmit, AlwaysDeny as AlwaysDenyAdmission } from '#plugins/admission/always';
import { CertificateApproval } from '#plugins/admission/certificate-approval';
import { CertificateSigning } from '#plugins/admission/certificate-signing';
import { CertificateSubjectRestriction } from '#plugins/admission/certificate-subject-restriction';
import { ClusterTrustBundleAttest } from '#plugins/admission/cluster-trust-bundle-attest';
import { DefaultIngressClass } from '#plugins/admission/default-ingress-class';
import { DefaultStorageClass } from '#plugins/admission/default-storage-class';
import { DefaultTolerationSeconds } from '#plugins/admission/default-toleration-seconds';
import { DenyServiceExternalIPs } from '#plugins/admission/deny-service-external-ips';
import { JobValidation } from '#plugins/admission/job-validation';
import { LimitRanger } from '#plugins/admission/limit-ranger';
import { NamespaceLifecycle } from '#plugins/admission/namespace-lifecycle';
import { NodeDeclaredFeatureValidator } from '#plugins/admission/node-declared-feature-validator';
import { NodeRestriction } from '#plugins/admission/node-restriction/node-restriction';
import { PersistentVolumeClaimResize } from '#plugins/admission/persistent-volume-claim-resize';
import { PodGroupProtection } from '#plugins/admission/pod-group-protection';
import { PodGroupWorkloadExists } from '#plugins/admission/pod-group-workload-exists';
import { PodResizeValidator } from '#plugins/admission/pod-resize-validator';
import { PodSecurity } from '#plugins/admission/pod-security/pod-security';
import { PodTopologyLabels } from '#plugins/admission/pod-topology-labels';
import { Priority } from '#plugins/admission/priority';
import { ResourceQuota } from '#plugins/admission/resource-quota/resource-quota';
import { RuntimeClass } from '#plugins/admission/runtime-class';
import { ServiceAccountAdmission } from '#plugins/admission/service-account';
import { StorageObjectInUseProtection } from '#plugins/admission/storage-object-in-use-protection';
import { TaintNodesByCondition } from '#plugins/admission/taint-nodes-by-condition';
import { MutatingAdmissionWebhook } from '#plugins/admission/webhook/mutating-admission-webhook';
import { ValidatingAdmissionWebhook } from '#plugins/admission/webhook/validating-admission-webhook';
import { AlwaysAllow, AlwaysDeny } from '#plugins/authorization/always';
import { Node } from '#plugins/authorization/node/node';
import { RBAC } from '#plugins/authorization/rbac/rbac';

/** Admission plugins by name, in the order in which they run. Upstream: kubernetes/pkg/kubeapiserver/options/plugins.go. */
export const admissionPlugins: ReadonlyMap<string, AdmissionPluginClass> = new Map<string, AdmissionPluginClass>([
  ['AlwaysAdmit', AlwaysAdmit],
  ['NamespaceLifecycle', NamespaceLifecycle],
  ['LimitRanger', LimitRanger],
  ['ServiceAccount', ServiceAccountAdmission],
  ['NodeRestriction', NodeRestriction],
  ['TaintNodesByCondition', TaintNodesByCondition],
  ['PodSecurity', PodSecurity],
  ['Priority', Priority],
  ['DefaultTolerationSeconds', DefaultTolerationSeconds],
  ['DefaultStorageClass', DefaultStorageClass],
  ['StorageObjectInUseProtection', StorageObjectInUseProtection],
  ['PodGroupProtection', PodGroupProtection],
  ['PersistentVolumeClaimResize', PersistentVolumeClaimResize],
  ['RuntimeClass', RuntimeClass],
  ['CertificateApproval', CertificateApproval],
  ['CertificateSigning', CertificateSigning],
  ['ClusterTrustBundleAttest', ClusterTrustBundleAttest],
  ['CertificateSubjectRestriction', CertificateSubjectRestriction],
  ['DefaultIngressClass', DefaultIngressClass],
  ['DenyServiceExternalIPs', DenyServiceExternalIPs],
  ['PodTopologyLabels', PodTopologyLabels],
  ['PodGroupWorkloadExists', PodGroupWorkloadExists],
  ['NodeDeclaredFeatureValidator', NodeDeclaredFeatureValidator],
  ['JobValidation', JobValidation],
  ['PodResizeValidator', PodResizeValidator],
  ['MutatingAdmissionWebhook', MutatingAdmissionWebhook],
  ['ValidatingAdmissionWebhook', ValidatingAdmissionWebhook],
  ['ResourceQuota', ResourceQuota],
  ['AlwaysDeny', AlwaysDenyAdmission],
]);

/** What upstream has and this server has not yet: it is refused by name, and told at start where it would be on by default. */
export const absentAdmissionPlugins: readonly string[] = [
  'NamespaceAutoProvision',
  'NamespaceExists',
  'LimitPodHardAntiAffinityTopology',
  'AlwaysPullImages',
  'ImagePolicyWebhook',
  'PodNodeSelector',
  'PodTolerationRestriction',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'OwnerReferencesPermissionEnforcement',
  'DenyEscalatingExec',
  'DenyExecOnPrivileged',
  'PersistentVolumeLabel',
  'PodPreset',
  'PodSecurityPolicy',
  'SecurityContextDeny',
  'MutatingAdmissionPolicy',
  'ValidatingAdmissionPolicy',
];

/** Authorizers that need nothing but the server's own objects. */
export const authorizers: Readonly<Record<'AlwaysAllow' | 'AlwaysDeny' | 'Node' | 'RBAC', new (informers: Informers) => Authorizer>> = {
  AlwaysAllow,
  AlwaysDeny,
  Node,
  RBAC,
};
