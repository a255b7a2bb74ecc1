import type { AdmissionPluginClass } from '#apiserver/admission/attributes';
import { AlwaysAdmit, AlwaysDeny as AlwaysDenyAdmission } from '#plugins/admission/always';
import { CertificateApproval } from '#plugins/admission/certificate-approval';
import { CertificateSigning } from '#plugins/admission/certificate-signing';
import { CertificateSubjectRestriction } from '#plugins/admission/certificate-subject-restriction';
import { ClusterTrustBundleAttest } from '#plugins/admission/cluster-trust-bundle-attest';
import { NamespaceAutoProvision } from '#plugins/admission/namespace-auto-provision';
import { NamespaceExists } from '#plugins/admission/namespace-exists';
import { LimitPodHardAntiAffinityTopology } from '#plugins/admission/limit-pod-hard-anti-affinity-topology';
import { AlwaysPullImages } from '#plugins/admission/always-pull-images';
import { ImagePolicyWebhook } from '#plugins/admission/image-policy-webhook';
import { PodPreset } from '#plugins/admission/pod-preset';
import { PodSecurityPolicy } from '#plugins/admission/pod-security-policy/pod-security-policy';
import { PodNodeSelector } from '#plugins/admission/pod-node-selector';
import { PodTolerationRestriction } from '#plugins/admission/pod-toleration-restriction';
import { EventRateLimit } from '#plugins/admission/event-rate-limit';
import { ExtendedResourceToleration } from '#plugins/admission/extended-resource-toleration';
import { OwnerReferencesPermissionEnforcement } from '#plugins/admission/owner-references-permission-enforcement';
import { SecurityContextDeny } from '#plugins/admission/security-context-deny';
import { DenyEscalatingExec, DenyExecOnPrivileged } from '#plugins/admission/deny-exec';
import { DefaultIngressClass } from '#plugins/admission/default-ingress-class';
import { DefaultStorageClass } from '#plugins/admission/default-storage-class';
import { DefaultTolerationSeconds } from '#plugins/admission/default-toleration-seconds';
import { DenyServiceExternalIPs } from '#plugins/admission/deny-service-external-ips';
import { JobValidation } from '#plugins/admission/job-validation';
import { LimitRanger } from '#plugins/admission/limit-ranger';
import { MutatingAdmissionPolicy } from '#plugins/admission/mutating-admission-policy';
import { NamespaceLifecycle } from '#plugins/admission/namespace-lifecycle';
import { NodeDeclaredFeatureValidator } from '#plugins/admission/node-declared-feature-validator';
import { NodeRestriction } from '#plugins/admission/node-restriction/node-restriction';
import { PersistentVolumeLabel } from '#plugins/admission/persistent-volume-label';
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
import { ValidatingAdmissionPolicy } from '#plugins/admission/validating-admission-policy';
import { MutatingAdmissionWebhook } from '#plugins/admission/webhook/mutating-admission-webhook';
import { ValidatingAdmissionWebhook } from '#plugins/admission/webhook/validating-admission-webhook';

/** Admission plugins by name, in the order in which they run. Upstream: kubernetes/pkg/kubeapiserver/options/plugins.go. */
export const admissionPlugins: ReadonlyMap<string, AdmissionPluginClass> = new Map<string, AdmissionPluginClass>([
  ['AlwaysAdmit', AlwaysAdmit],
  ['NamespaceAutoProvision', NamespaceAutoProvision],
  ['NamespaceLifecycle', NamespaceLifecycle],
  ['NamespaceExists', NamespaceExists],
  ['SecurityContextDeny', SecurityContextDeny],
  ['LimitPodHardAntiAffinityTopology', LimitPodHardAntiAffinityTopology],
  ['PodPreset', PodPreset],
  ['LimitRanger', LimitRanger],
  ['ServiceAccount', ServiceAccountAdmission],
  ['NodeRestriction', NodeRestriction],
  ['TaintNodesByCondition', TaintNodesByCondition],
  ['AlwaysPullImages', AlwaysPullImages],
  ['ImagePolicyWebhook', ImagePolicyWebhook],
  ['PodSecurity', PodSecurity],
  ['PodSecurityPolicy', PodSecurityPolicy],
  ['PodNodeSelector', PodNodeSelector],
  ['Priority', Priority],
  ['DefaultTolerationSeconds', DefaultTolerationSeconds],
  ['PodTolerationRestriction', PodTolerationRestriction],
  ['DenyEscalatingExec', DenyEscalatingExec],
  ['DenyExecOnPrivileged', DenyExecOnPrivileged],
  ['EventRateLimit', EventRateLimit],
  ['ExtendedResourceToleration', ExtendedResourceToleration],
  ['PersistentVolumeLabel', PersistentVolumeLabel],
  ['DefaultStorageClass', DefaultStorageClass],
  ['StorageObjectInUseProtection', StorageObjectInUseProtection],
  ['PodGroupProtection', PodGroupProtection],
  ['OwnerReferencesPermissionEnforcement', OwnerReferencesPermissionEnforcement],
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
  ['MutatingAdmissionPolicy', MutatingAdmissionPolicy],
  ['MutatingAdmissionWebhook', MutatingAdmissionWebhook],
  ['ValidatingAdmissionPolicy', ValidatingAdmissionPolicy],
  ['ValidatingAdmissionWebhook', ValidatingAdmissionWebhook],
  ['ResourceQuota', ResourceQuota],
  ['AlwaysDeny', AlwaysDenyAdmission],
]);
