/** The built-in kinds, in the preferred version of their group, as types and as values. Written by `npm run generate`; do not edit. */
import type { ConnectionOptions, Kind } from '#apiserver/registry/kind';
import type * as admissionregistration_v1 from './types/admissionregistration_v1.gen.ts';
import type * as apiextensions_v1 from './types/apiextensions_v1.gen.ts';
import type * as apiregistration_v1 from './types/apiregistration_v1.gen.ts';
import type * as apps_v1 from './types/apps_v1.gen.ts';
import type * as authentication_v1 from './types/authentication_v1.gen.ts';
import type * as authorization_v1 from './types/authorization_v1.gen.ts';
import type * as autoscaling_v1 from './types/autoscaling_v1.gen.ts';
import type * as autoscaling_v2 from './types/autoscaling_v2.gen.ts';
import type * as batch_v1 from './types/batch_v1.gen.ts';
import type * as certificates_v1 from './types/certificates_v1.gen.ts';
import type * as coordination_v1 from './types/coordination_v1.gen.ts';
import type * as core_v1 from './types/core_v1.gen.ts';
import type * as discovery_v1 from './types/discovery_v1.gen.ts';
import type * as flowcontrol_v1 from './types/flowcontrol_v1.gen.ts';
import type * as networking_v1 from './types/networking_v1.gen.ts';
import type * as node_v1 from './types/node_v1.gen.ts';
import type * as policy_v1 from './types/policy_v1.gen.ts';
import type * as rbac_v1 from './types/rbac_v1.gen.ts';
import type * as resource_v1 from './types/resource_v1.gen.ts';
import type * as scheduling_v1 from './types/scheduling_v1.gen.ts';
import type * as storage_v1 from './types/storage_v1.gen.ts';

/**
 * MutatingAdmissionPolicy describes the definition of an admission mutation policy that mutates the object coming into admission
 * chain.
 */
export type MutatingAdmissionPolicy = admissionregistration_v1.MutatingAdmissionPolicy;
/**
 * MutatingAdmissionPolicy describes the definition of an admission mutation policy that mutates the object coming into admission
 * chain.
 */
export const MutatingAdmissionPolicy: Kind<MutatingAdmissionPolicy, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: {} }> = { group: 'admissionregistration.k8s.io', version: 'v1', kind: 'MutatingAdmissionPolicy', resource: 'mutatingadmissionpolicies', isClusterScoped: true };

/**
 * MutatingAdmissionPolicyBinding binds the MutatingAdmissionPolicy with parametrized resources. MutatingAdmissionPolicyBinding
 * and the optional parameter resource together define how cluster administrators configure policies for clusters.
 *
 * For a given admission request, each binding will cause its policy to be evaluated N times, where N is 1 for policies/bindings
 * that don't use params, otherwise N is the number of parameters selected by the binding. Each evaluation is constrained by a
 * [runtime cost budget](https://kubernetes.io/docs/reference/using-api/cel/#runtime-cost-budget).
 *
 * Adding/removing policies, bindings, or params can not affect whether a given (policy, binding, param) combination is within its
 * own CEL budget.
 */
export type MutatingAdmissionPolicyBinding = admissionregistration_v1.MutatingAdmissionPolicyBinding;
/**
 * MutatingAdmissionPolicyBinding binds the MutatingAdmissionPolicy with parametrized resources. MutatingAdmissionPolicyBinding
 * and the optional parameter resource together define how cluster administrators configure policies for clusters.
 *
 * For a given admission request, each binding will cause its policy to be evaluated N times, where N is 1 for policies/bindings
 * that don't use params, otherwise N is the number of parameters selected by the binding. Each evaluation is constrained by a
 * [runtime cost budget](https://kubernetes.io/docs/reference/using-api/cel/#runtime-cost-budget).
 *
 * Adding/removing policies, bindings, or params can not affect whether a given (policy, binding, param) combination is within its
 * own CEL budget.
 */
export const MutatingAdmissionPolicyBinding: Kind<MutatingAdmissionPolicyBinding, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: {} }> = { group: 'admissionregistration.k8s.io', version: 'v1', kind: 'MutatingAdmissionPolicyBinding', resource: 'mutatingadmissionpolicybindings', isClusterScoped: true };

/**
 * MutatingWebhookConfiguration describes the configuration of and admission webhook that accept or reject and may change the
 * object.
 */
export type MutatingWebhookConfiguration = admissionregistration_v1.MutatingWebhookConfiguration;
/**
 * MutatingWebhookConfiguration describes the configuration of and admission webhook that accept or reject and may change the
 * object.
 */
export const MutatingWebhookConfiguration: Kind<MutatingWebhookConfiguration, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: {} }> = { group: 'admissionregistration.k8s.io', version: 'v1', kind: 'MutatingWebhookConfiguration', resource: 'mutatingwebhookconfigurations', isClusterScoped: true };

/**
 * ValidatingAdmissionPolicy describes the definition of an admission validation policy that accepts or rejects an object without
 * changing it.
 */
export type ValidatingAdmissionPolicy = admissionregistration_v1.ValidatingAdmissionPolicy;
/**
 * ValidatingAdmissionPolicy describes the definition of an admission validation policy that accepts or rejects an object without
 * changing it.
 */
export const ValidatingAdmissionPolicy: Kind<ValidatingAdmissionPolicy, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: { status: { object: ValidatingAdmissionPolicy; operations: 'UPDATE' } } }> = { group: 'admissionregistration.k8s.io', version: 'v1', kind: 'ValidatingAdmissionPolicy', resource: 'validatingadmissionpolicies', isClusterScoped: true };

/**
 * ValidatingAdmissionPolicyBinding binds the ValidatingAdmissionPolicy with paramerized resources.
 * ValidatingAdmissionPolicyBinding and parameter CRDs together define how cluster administrators configure policies for clusters.
 *
 * For a given admission request, each binding will cause its policy to be evaluated N times, where N is 1 for policies/bindings
 * that don't use params, otherwise N is the number of parameters selected by the binding.
 *
 * The CEL expressions of a policy must have a computed CEL cost below the maximum CEL budget. Each evaluation of the policy is
 * given an independent CEL cost budget. Adding/removing policies, bindings, or params can not affect whether a given (policy,
 * binding, param) combination is within its own CEL budget.
 */
export type ValidatingAdmissionPolicyBinding = admissionregistration_v1.ValidatingAdmissionPolicyBinding;
/**
 * ValidatingAdmissionPolicyBinding binds the ValidatingAdmissionPolicy with paramerized resources.
 * ValidatingAdmissionPolicyBinding and parameter CRDs together define how cluster administrators configure policies for clusters.
 *
 * For a given admission request, each binding will cause its policy to be evaluated N times, where N is 1 for policies/bindings
 * that don't use params, otherwise N is the number of parameters selected by the binding.
 *
 * The CEL expressions of a policy must have a computed CEL cost below the maximum CEL budget. Each evaluation of the policy is
 * given an independent CEL cost budget. Adding/removing policies, bindings, or params can not affect whether a given (policy,
 * binding, param) combination is within its own CEL budget.
 */
export const ValidatingAdmissionPolicyBinding: Kind<ValidatingAdmissionPolicyBinding, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: {} }> = { group: 'admissionregistration.k8s.io', version: 'v1', kind: 'ValidatingAdmissionPolicyBinding', resource: 'validatingadmissionpolicybindings', isClusterScoped: true };

/**
 * ValidatingWebhookConfiguration describes the configuration of and admission webhook that accept or reject and object without
 * changing it.
 */
export type ValidatingWebhookConfiguration = admissionregistration_v1.ValidatingWebhookConfiguration;
/**
 * ValidatingWebhookConfiguration describes the configuration of and admission webhook that accept or reject and object without
 * changing it.
 */
export const ValidatingWebhookConfiguration: Kind<ValidatingWebhookConfiguration, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: {} }> = { group: 'admissionregistration.k8s.io', version: 'v1', kind: 'ValidatingWebhookConfiguration', resource: 'validatingwebhookconfigurations', isClusterScoped: true };

/**
 * CustomResourceDefinition represents a resource that should be exposed on the API server.  Its name MUST be in the format
 * <.spec.name>.<.spec.group>.
 */
export type CustomResourceDefinition = apiextensions_v1.CustomResourceDefinition;
/**
 * CustomResourceDefinition represents a resource that should be exposed on the API server.  Its name MUST be in the format
 * <.spec.name>.<.spec.group>.
 */
export const CustomResourceDefinition: Kind<CustomResourceDefinition, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: { status: { object: CustomResourceDefinition; operations: 'UPDATE' } } }> = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition', resource: 'customresourcedefinitions', isClusterScoped: true };

/** APIService represents a server for a particular GroupVersion. Name must be "version.group". */
export type APIService = apiregistration_v1.APIService;
/** APIService represents a server for a particular GroupVersion. Name must be "version.group". */
export const APIService: Kind<APIService, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: { status: { object: APIService; operations: 'UPDATE' } } }> = { group: 'apiregistration.k8s.io', version: 'v1', kind: 'APIService', resource: 'apiservices', isClusterScoped: true };

/**
 * ControllerRevision implements an immutable snapshot of state data. Clients are responsible for serializing and deserializing
 * the objects that contain their internal state. Once a ControllerRevision has been successfully created, it can not be updated.
 * The API Server will fail validation of all requests that attempt to mutate the Data field. ControllerRevisions may, however, be
 * deleted. Note that, due to its use by both the DaemonSet and StatefulSet controllers for update and rollback, this object is
 * beta. However, it may be subject to name and representation changes in future releases, and clients should not depend on its
 * stability. It is primarily for internal use by controllers.
 */
export type ControllerRevision = apps_v1.ControllerRevision;
/**
 * ControllerRevision implements an immutable snapshot of state data. Clients are responsible for serializing and deserializing
 * the objects that contain their internal state. Once a ControllerRevision has been successfully created, it can not be updated.
 * The API Server will fail validation of all requests that attempt to mutate the Data field. ControllerRevisions may, however, be
 * deleted. Note that, due to its use by both the DaemonSet and StatefulSet controllers for update and rollback, this object is
 * beta. However, it may be subject to name and representation changes in future releases, and clients should not depend on its
 * stability. It is primarily for internal use by controllers.
 */
export const ControllerRevision: Kind<ControllerRevision, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: {} }> = { group: 'apps', version: 'v1', kind: 'ControllerRevision', resource: 'controllerrevisions' };

/** DaemonSet represents the configuration of a daemon set. */
export type DaemonSet = apps_v1.DaemonSet;
/** DaemonSet represents the configuration of a daemon set. */
export const DaemonSet: Kind<DaemonSet, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: { status: { object: DaemonSet; operations: 'UPDATE' } } }> = { group: 'apps', version: 'v1', kind: 'DaemonSet', resource: 'daemonsets' };

/** Deployment enables declarative updates for Pods and ReplicaSets. */
export type Deployment = apps_v1.Deployment;
/** Deployment enables declarative updates for Pods and ReplicaSets. */
export const Deployment: Kind<Deployment, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: { scale: { object: autoscaling_v1.Scale; operations: 'UPDATE' }; status: { object: Deployment; operations: 'UPDATE' } } }> = { group: 'apps', version: 'v1', kind: 'Deployment', resource: 'deployments' };

/** ReplicaSet ensures that a specified number of pod replicas are running at any given time. */
export type ReplicaSet = apps_v1.ReplicaSet;
/** ReplicaSet ensures that a specified number of pod replicas are running at any given time. */
export const ReplicaSet: Kind<ReplicaSet, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: { scale: { object: autoscaling_v1.Scale; operations: 'UPDATE' }; status: { object: ReplicaSet; operations: 'UPDATE' } } }> = { group: 'apps', version: 'v1', kind: 'ReplicaSet', resource: 'replicasets' };

/**
 * StatefulSet represents a set of pods with consistent identities. Identities are defined as:
 *   - Network: A single stable DNS and hostname.
 *   - Storage: As many VolumeClaims as requested.
 *
 * The StatefulSet guarantees that a given network identity will always map to the same storage identity.
 */
export type StatefulSet = apps_v1.StatefulSet;
/**
 * StatefulSet represents a set of pods with consistent identities. Identities are defined as:
 *   - Network: A single stable DNS and hostname.
 *   - Storage: As many VolumeClaims as requested.
 *
 * The StatefulSet guarantees that a given network identity will always map to the same storage identity.
 */
export const StatefulSet: Kind<StatefulSet, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: { scale: { object: autoscaling_v1.Scale; operations: 'UPDATE' }; status: { object: StatefulSet; operations: 'UPDATE' } } }> = { group: 'apps', version: 'v1', kind: 'StatefulSet', resource: 'statefulsets' };

/**
 * SelfSubjectReview contains the user information that the kube-apiserver has about the user making this request. When using
 * impersonation, users will receive the user info of the user being impersonated.  If impersonation or request header
 * authentication is used, any extra keys will have their case ignored and returned as lowercase.
 */
export type SelfSubjectReview = authentication_v1.SelfSubjectReview;
/**
 * SelfSubjectReview contains the user information that the kube-apiserver has about the user making this request. When using
 * impersonation, users will receive the user info of the user being impersonated.  If impersonation or request header
 * authentication is used, any extra keys will have their case ignored and returned as lowercase.
 */
export const SelfSubjectReview: Kind<SelfSubjectReview, { operations: 'CREATE'; isNamespaced: false; subresources: {} }> = { group: 'authentication.k8s.io', version: 'v1', kind: 'SelfSubjectReview', resource: 'selfsubjectreviews', isClusterScoped: true };

/**
 * TokenReview attempts to authenticate a token to a known user. Note: TokenReview requests may be cached by the webhook token
 * authenticator plugin in the kube-apiserver.
 */
export type TokenReview = authentication_v1.TokenReview;
/**
 * TokenReview attempts to authenticate a token to a known user. Note: TokenReview requests may be cached by the webhook token
 * authenticator plugin in the kube-apiserver.
 */
export const TokenReview: Kind<TokenReview, { operations: 'CREATE'; isNamespaced: false; subresources: {} }> = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenReview', resource: 'tokenreviews', isClusterScoped: true };

/**
 * LocalSubjectAccessReview checks whether or not a user or group can perform an action in a given namespace. Having a namespace
 * scoped resource makes it much easier to grant namespace scoped policy that includes permissions checking.
 */
export type LocalSubjectAccessReview = authorization_v1.LocalSubjectAccessReview;
/**
 * LocalSubjectAccessReview checks whether or not a user or group can perform an action in a given namespace. Having a namespace
 * scoped resource makes it much easier to grant namespace scoped policy that includes permissions checking.
 */
export const LocalSubjectAccessReview: Kind<LocalSubjectAccessReview, { operations: 'CREATE'; isNamespaced: true; subresources: {} }> = { group: 'authorization.k8s.io', version: 'v1', kind: 'LocalSubjectAccessReview', resource: 'localsubjectaccessreviews' };

/**
 * SelfSubjectAccessReview checks whether or the current user can perform an action.  Not filling in a spec.namespace means "in
 * all namespaces".  Self is a special case, because users should always be able to check whether they can perform an action
 */
export type SelfSubjectAccessReview = authorization_v1.SelfSubjectAccessReview;
/**
 * SelfSubjectAccessReview checks whether or the current user can perform an action.  Not filling in a spec.namespace means "in
 * all namespaces".  Self is a special case, because users should always be able to check whether they can perform an action
 */
export const SelfSubjectAccessReview: Kind<SelfSubjectAccessReview, { operations: 'CREATE'; isNamespaced: false; subresources: {} }> = { group: 'authorization.k8s.io', version: 'v1', kind: 'SelfSubjectAccessReview', resource: 'selfsubjectaccessreviews', isClusterScoped: true };

/**
 * SelfSubjectRulesReview enumerates the set of actions the current user can perform within a namespace. The returned list of
 * actions may be incomplete depending on the server's authorization mode, and any errors experienced during the evaluation.
 * SelfSubjectRulesReview should be used by UIs to show/hide actions, or to quickly let an end user reason about their
 * permissions. It should NOT Be used by external systems to drive authorization decisions as this raises confused deputy, cache
 * lifetime/revocation, and correctness concerns. SubjectAccessReview, and LocalAccessReview are the correct way to defer
 * authorization decisions to the API server.
 */
export type SelfSubjectRulesReview = authorization_v1.SelfSubjectRulesReview;
/**
 * SelfSubjectRulesReview enumerates the set of actions the current user can perform within a namespace. The returned list of
 * actions may be incomplete depending on the server's authorization mode, and any errors experienced during the evaluation.
 * SelfSubjectRulesReview should be used by UIs to show/hide actions, or to quickly let an end user reason about their
 * permissions. It should NOT Be used by external systems to drive authorization decisions as this raises confused deputy, cache
 * lifetime/revocation, and correctness concerns. SubjectAccessReview, and LocalAccessReview are the correct way to defer
 * authorization decisions to the API server.
 */
export const SelfSubjectRulesReview: Kind<SelfSubjectRulesReview, { operations: 'CREATE'; isNamespaced: false; subresources: {} }> = { group: 'authorization.k8s.io', version: 'v1', kind: 'SelfSubjectRulesReview', resource: 'selfsubjectrulesreviews', isClusterScoped: true };

/** SubjectAccessReview checks whether or not a user or group can perform an action. */
export type SubjectAccessReview = authorization_v1.SubjectAccessReview;
/** SubjectAccessReview checks whether or not a user or group can perform an action. */
export const SubjectAccessReview: Kind<SubjectAccessReview, { operations: 'CREATE'; isNamespaced: false; subresources: {} }> = { group: 'authorization.k8s.io', version: 'v1', kind: 'SubjectAccessReview', resource: 'subjectaccessreviews', isClusterScoped: true };

/**
 * HorizontalPodAutoscaler is the configuration for a horizontal pod autoscaler, which automatically manages the replica count of
 * any resource implementing the scale subresource based on the metrics specified.
 */
export type HorizontalPodAutoscaler = autoscaling_v2.HorizontalPodAutoscaler;
/**
 * HorizontalPodAutoscaler is the configuration for a horizontal pod autoscaler, which automatically manages the replica count of
 * any resource implementing the scale subresource based on the metrics specified.
 */
export const HorizontalPodAutoscaler: Kind<HorizontalPodAutoscaler, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: { status: { object: HorizontalPodAutoscaler; operations: 'UPDATE' } } }> = { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler', resource: 'horizontalpodautoscalers' };

/** CronJob represents the configuration of a single cron job. */
export type CronJob = batch_v1.CronJob;
/** CronJob represents the configuration of a single cron job. */
export const CronJob: Kind<CronJob, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: { status: { object: CronJob; operations: 'UPDATE' } } }> = { group: 'batch', version: 'v1', kind: 'CronJob', resource: 'cronjobs' };

/** Job represents the configuration of a single job. */
export type Job = batch_v1.Job;
/** Job represents the configuration of a single job. */
export const Job: Kind<Job, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: { status: { object: Job; operations: 'UPDATE' } } }> = { group: 'batch', version: 'v1', kind: 'Job', resource: 'jobs' };

/**
 * CertificateSigningRequest objects provide a mechanism to obtain x509 certificates by submitting a certificate signing request,
 * and having it asynchronously approved and issued.
 *
 * Kubelets use this API to obtain:
 *  1. client certificates to authenticate to kube-apiserver (with the "kubernetes.io/kube-apiserver-client-kubelet" signerName).
 *  2. serving certificates for TLS endpoints kube-apiserver can connect to securely (with the "kubernetes.io/kubelet-serving"
 * signerName).
 *
 * This API can be used to request client certificates to authenticate to kube-apiserver (with the
 * "kubernetes.io/kube-apiserver-client" signerName), or to obtain certificates from custom non-Kubernetes signers.
 */
export type CertificateSigningRequest = certificates_v1.CertificateSigningRequest;
/**
 * CertificateSigningRequest objects provide a mechanism to obtain x509 certificates by submitting a certificate signing request,
 * and having it asynchronously approved and issued.
 *
 * Kubelets use this API to obtain:
 *  1. client certificates to authenticate to kube-apiserver (with the "kubernetes.io/kube-apiserver-client-kubelet" signerName).
 *  2. serving certificates for TLS endpoints kube-apiserver can connect to securely (with the "kubernetes.io/kubelet-serving"
 * signerName).
 *
 * This API can be used to request client certificates to authenticate to kube-apiserver (with the
 * "kubernetes.io/kube-apiserver-client" signerName), or to obtain certificates from custom non-Kubernetes signers.
 */
export const CertificateSigningRequest: Kind<CertificateSigningRequest, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: { approval: { object: CertificateSigningRequest; operations: 'UPDATE' }; status: { object: CertificateSigningRequest; operations: 'UPDATE' } } }> = { group: 'certificates.k8s.io', version: 'v1', kind: 'CertificateSigningRequest', resource: 'certificatesigningrequests', isClusterScoped: true };

/** Lease defines a lease concept. */
export type Lease = coordination_v1.Lease;
/** Lease defines a lease concept. */
export const Lease: Kind<Lease, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: {} }> = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', resource: 'leases' };

/** Binding ties one object to another; for example, a pod is bound to a node by a scheduler. */
export type Binding = core_v1.Binding;
/** Binding ties one object to another; for example, a pod is bound to a node by a scheduler. */
export const Binding: Kind<Binding, { operations: 'CREATE'; isNamespaced: true; subresources: {} }> = { group: '', version: 'v1', kind: 'Binding', resource: 'bindings' };

/** ComponentStatus (and ComponentStatusList) holds the cluster validation info. Deprecated: This API is deprecated in v1.19+ */
export type ComponentStatus = core_v1.ComponentStatus;
/** ComponentStatus (and ComponentStatusList) holds the cluster validation info. Deprecated: This API is deprecated in v1.19+ */
export const ComponentStatus: Kind<ComponentStatus, { operations: never; isNamespaced: false; subresources: {} }> = { group: '', version: 'v1', kind: 'ComponentStatus', resource: 'componentstatuses', isClusterScoped: true };

/** ConfigMap holds configuration data for pods to consume. */
export type ConfigMap = core_v1.ConfigMap;
/** ConfigMap holds configuration data for pods to consume. */
export const ConfigMap: Kind<ConfigMap, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: {} }> = { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps' };

/**
 * Endpoints is a collection of endpoints that implement the actual service. Example:
 *
 * 	 Name: "mysvc",
 * 	 Subsets: [
 * 	   {
 * 	     Addresses: [{"ip": "10.10.1.1"}, {"ip": "10.10.2.2"}],
 * 	     Ports: [{"name": "a", "port": 8675}, {"name": "b", "port": 309}]
 * 	   },
 * 	   {
 * 	     Addresses: [{"ip": "10.10.3.3"}],
 * 	     Ports: [{"name": "a", "port": 93}, {"name": "b", "port": 76}]
 * 	   },
 * 	]
 *
 * Endpoints is a legacy API and does not contain information about all Service features. Use discoveryv1.EndpointSlice for
 * complete information about Service endpoints.
 *
 * Deprecated: This API is deprecated in v1.33+. Use discoveryv1.EndpointSlice.
 */
export type Endpoints = core_v1.Endpoints;
/**
 * Endpoints is a collection of endpoints that implement the actual service. Example:
 *
 * 	 Name: "mysvc",
 * 	 Subsets: [
 * 	   {
 * 	     Addresses: [{"ip": "10.10.1.1"}, {"ip": "10.10.2.2"}],
 * 	     Ports: [{"name": "a", "port": 8675}, {"name": "b", "port": 309}]
 * 	   },
 * 	   {
 * 	     Addresses: [{"ip": "10.10.3.3"}],
 * 	     Ports: [{"name": "a", "port": 93}, {"name": "b", "port": 76}]
 * 	   },
 * 	]
 *
 * Endpoints is a legacy API and does not contain information about all Service features. Use discoveryv1.EndpointSlice for
 * complete information about Service endpoints.
 *
 * Deprecated: This API is deprecated in v1.33+. Use discoveryv1.EndpointSlice.
 */
export const Endpoints: Kind<Endpoints, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: {} }> = { group: '', version: 'v1', kind: 'Endpoints', resource: 'endpoints' };

/**
 * Event is a report of an event somewhere in the cluster.  Events have a limited retention time and triggers and messages may
 * evolve with time.  Event consumers should not rely on the timing of an event with a given Reason reflecting a consistent
 * underlying trigger, or the continued existence of events with that Reason.  Events should be treated as informative,
 * best-effort, supplemental data.
 */
export type Event = core_v1.Event;
/**
 * Event is a report of an event somewhere in the cluster.  Events have a limited retention time and triggers and messages may
 * evolve with time.  Event consumers should not rely on the timing of an event with a given Reason reflecting a consistent
 * underlying trigger, or the continued existence of events with that Reason.  Events should be treated as informative,
 * best-effort, supplemental data.
 */
export const Event: Kind<Event, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: {} }> = { group: '', version: 'v1', kind: 'Event', resource: 'events' };

/** LimitRange sets resource usage limits for each kind of resource in a Namespace. */
export type LimitRange = core_v1.LimitRange;
/** LimitRange sets resource usage limits for each kind of resource in a Namespace. */
export const LimitRange: Kind<LimitRange, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: {} }> = { group: '', version: 'v1', kind: 'LimitRange', resource: 'limitranges' };

/** Namespace provides a scope for Names. Use of multiple namespaces is optional. */
export type Namespace = core_v1.Namespace;
/** Namespace provides a scope for Names. Use of multiple namespaces is optional. */
export const Namespace: Kind<Namespace, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: { finalize: { object: Namespace; operations: 'UPDATE' }; status: { object: Namespace; operations: 'UPDATE' } } }> = { group: '', version: 'v1', kind: 'Namespace', resource: 'namespaces', isClusterScoped: true };

/** Node is a worker node in Kubernetes. Each node will have a unique identifier in the cache (i.e. in etcd). */
export type Node = core_v1.Node;
/** Node is a worker node in Kubernetes. Each node will have a unique identifier in the cache (i.e. in etcd). */
export const Node: Kind<Node, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: { proxy: { object: ConnectionOptions; operations: 'CONNECT' }; status: { object: Node; operations: 'UPDATE' } } }> = { group: '', version: 'v1', kind: 'Node', resource: 'nodes', isClusterScoped: true };

/**
 * PersistentVolume (PV) is a storage resource provisioned by an administrator. It is analogous to a node. More info:
 * https://kubernetes.io/docs/concepts/storage/persistent-volumes
 */
export type PersistentVolume = core_v1.PersistentVolume;
/**
 * PersistentVolume (PV) is a storage resource provisioned by an administrator. It is analogous to a node. More info:
 * https://kubernetes.io/docs/concepts/storage/persistent-volumes
 */
export const PersistentVolume: Kind<PersistentVolume, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: { status: { object: PersistentVolume; operations: 'UPDATE' } } }> = { group: '', version: 'v1', kind: 'PersistentVolume', resource: 'persistentvolumes', isClusterScoped: true };

/** PersistentVolumeClaim is a user's request for and claim to a persistent volume */
export type PersistentVolumeClaim = core_v1.PersistentVolumeClaim;
/** PersistentVolumeClaim is a user's request for and claim to a persistent volume */
export const PersistentVolumeClaim: Kind<PersistentVolumeClaim, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: { status: { object: PersistentVolumeClaim; operations: 'UPDATE' } } }> = { group: '', version: 'v1', kind: 'PersistentVolumeClaim', resource: 'persistentvolumeclaims' };

/** Pod is a collection of containers that can run on a host. This resource is created by clients and scheduled onto hosts. */
export type Pod = core_v1.Pod;
/** Pod is a collection of containers that can run on a host. This resource is created by clients and scheduled onto hosts. */
export const Pod: Kind<Pod, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: { attach: { object: ConnectionOptions; operations: 'CONNECT' }; binding: { object: core_v1.Binding; operations: 'CREATE' }; ephemeralcontainers: { object: Pod; operations: 'UPDATE' }; eviction: { object: policy_v1.Eviction; operations: 'CREATE' }; exec: { object: ConnectionOptions; operations: 'CONNECT' }; portforward: { object: ConnectionOptions; operations: 'CONNECT' }; proxy: { object: ConnectionOptions; operations: 'CONNECT' }; resize: { object: Pod; operations: 'UPDATE' }; status: { object: Pod; operations: 'UPDATE' } } }> = { group: '', version: 'v1', kind: 'Pod', resource: 'pods' };

/** PodTemplate describes a template for creating copies of a predefined pod. */
export type PodTemplate = core_v1.PodTemplate;
/** PodTemplate describes a template for creating copies of a predefined pod. */
export const PodTemplate: Kind<PodTemplate, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: {} }> = { group: '', version: 'v1', kind: 'PodTemplate', resource: 'podtemplates' };

/** ReplicationController represents the configuration of a replication controller. */
export type ReplicationController = core_v1.ReplicationController;
/** ReplicationController represents the configuration of a replication controller. */
export const ReplicationController: Kind<ReplicationController, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: { scale: { object: autoscaling_v1.Scale; operations: 'UPDATE' }; status: { object: ReplicationController; operations: 'UPDATE' } } }> = { group: '', version: 'v1', kind: 'ReplicationController', resource: 'replicationcontrollers' };

/** ResourceQuota sets aggregate quota restrictions enforced per namespace */
export type ResourceQuota = core_v1.ResourceQuota;
/** ResourceQuota sets aggregate quota restrictions enforced per namespace */
export const ResourceQuota: Kind<ResourceQuota, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: { status: { object: ResourceQuota; operations: 'UPDATE' } } }> = { group: '', version: 'v1', kind: 'ResourceQuota', resource: 'resourcequotas' };

/**
 * Secret holds secret data of a certain type. The total bytes of the values in the Data field must be less than MaxSecretSize
 * bytes.
 */
export type Secret = core_v1.Secret;
/**
 * Secret holds secret data of a certain type. The total bytes of the values in the Data field must be less than MaxSecretSize
 * bytes.
 */
export const Secret: Kind<Secret, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: {} }> = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets' };

/**
 * Service is a named abstraction of software service (for example, mysql) consisting of local port (for example 3306) that the
 * proxy listens on, and the selector that determines which pods will answer requests sent through the proxy.
 */
export type Service = core_v1.Service;
/**
 * Service is a named abstraction of software service (for example, mysql) consisting of local port (for example 3306) that the
 * proxy listens on, and the selector that determines which pods will answer requests sent through the proxy.
 */
export const Service: Kind<Service, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: { proxy: { object: ConnectionOptions; operations: 'CONNECT' }; status: { object: Service; operations: 'UPDATE' } } }> = { group: '', version: 'v1', kind: 'Service', resource: 'services' };

/**
 * ServiceAccount binds together: * a name, understood by users, and perhaps by peripheral systems, for an identity * a principal
 * that can be authenticated and authorized * a set of secrets
 */
export type ServiceAccount = core_v1.ServiceAccount;
/**
 * ServiceAccount binds together: * a name, understood by users, and perhaps by peripheral systems, for an identity * a principal
 * that can be authenticated and authorized * a set of secrets
 */
export const ServiceAccount: Kind<ServiceAccount, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: { token: { object: authentication_v1.TokenRequest; operations: 'CREATE' } } }> = { group: '', version: 'v1', kind: 'ServiceAccount', resource: 'serviceaccounts' };

/**
 * EndpointSlice represents a set of service endpoints. Most EndpointSlices are created by the EndpointSlice controller to
 * represent the Pods selected by Service objects. For a given service there may be multiple EndpointSlice objects which must be
 * joined to produce the full set of endpoints; you can find all of the slices for a given service by listing EndpointSlices in
 * the service's namespace whose `kubernetes.io/service-name` label contains the service's name.
 */
export type EndpointSlice = discovery_v1.EndpointSlice;
/**
 * EndpointSlice represents a set of service endpoints. Most EndpointSlices are created by the EndpointSlice controller to
 * represent the Pods selected by Service objects. For a given service there may be multiple EndpointSlice objects which must be
 * joined to produce the full set of endpoints; you can find all of the slices for a given service by listing EndpointSlices in
 * the service's namespace whose `kubernetes.io/service-name` label contains the service's name.
 */
export const EndpointSlice: Kind<EndpointSlice, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: {} }> = { group: 'discovery.k8s.io', version: 'v1', kind: 'EndpointSlice', resource: 'endpointslices' };

/**
 * FlowSchema defines the schema of a group of flows. Note that a flow is made up of a set of inbound API requests with similar
 * attributes and is identified by a pair of strings: the name of the FlowSchema and a "flow distinguisher".
 */
export type FlowSchema = flowcontrol_v1.FlowSchema;
/**
 * FlowSchema defines the schema of a group of flows. Note that a flow is made up of a set of inbound API requests with similar
 * attributes and is identified by a pair of strings: the name of the FlowSchema and a "flow distinguisher".
 */
export const FlowSchema: Kind<FlowSchema, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: { status: { object: FlowSchema; operations: 'UPDATE' } } }> = { group: 'flowcontrol.apiserver.k8s.io', version: 'v1', kind: 'FlowSchema', resource: 'flowschemas', isClusterScoped: true };

/** PriorityLevelConfiguration represents the configuration of a priority level. */
export type PriorityLevelConfiguration = flowcontrol_v1.PriorityLevelConfiguration;
/** PriorityLevelConfiguration represents the configuration of a priority level. */
export const PriorityLevelConfiguration: Kind<PriorityLevelConfiguration, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: { status: { object: PriorityLevelConfiguration; operations: 'UPDATE' } } }> = { group: 'flowcontrol.apiserver.k8s.io', version: 'v1', kind: 'PriorityLevelConfiguration', resource: 'prioritylevelconfigurations', isClusterScoped: true };

/**
 * IPAddress represents a single IP of a single IP Family. The object is designed to be used by APIs that operate on IP addresses.
 * The object is used by the Service core API for allocation of IP addresses. An IP address can be represented in different
 * formats, to guarantee the uniqueness of the IP, the name of the object is the IP address in canonical format, four decimal
 * digits separated by dots suppressing leading zeros for IPv4 and the representation defined by RFC 5952 for IPv6. Valid:
 * 192.168.1.5 or 2001:db8::1 or 2001:db8:aaaa:bbbb:cccc:dddd:eeee:1 Invalid: 10.01.2.3 or 2001:db8:0:0:0::1
 */
export type IPAddress = networking_v1.IPAddress;
/**
 * IPAddress represents a single IP of a single IP Family. The object is designed to be used by APIs that operate on IP addresses.
 * The object is used by the Service core API for allocation of IP addresses. An IP address can be represented in different
 * formats, to guarantee the uniqueness of the IP, the name of the object is the IP address in canonical format, four decimal
 * digits separated by dots suppressing leading zeros for IPv4 and the representation defined by RFC 5952 for IPv6. Valid:
 * 192.168.1.5 or 2001:db8::1 or 2001:db8:aaaa:bbbb:cccc:dddd:eeee:1 Invalid: 10.01.2.3 or 2001:db8:0:0:0::1
 */
export const IPAddress: Kind<IPAddress, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: {} }> = { group: 'networking.k8s.io', version: 'v1', kind: 'IPAddress', resource: 'ipaddresses', isClusterScoped: true };

/**
 * Ingress is a collection of rules that allow inbound connections to reach the endpoints defined by a backend. An Ingress can be
 * configured to give services externally-reachable urls, load balance traffic, terminate SSL, offer name based virtual hosting
 * etc.
 */
export type Ingress = networking_v1.Ingress;
/**
 * Ingress is a collection of rules that allow inbound connections to reach the endpoints defined by a backend. An Ingress can be
 * configured to give services externally-reachable urls, load balance traffic, terminate SSL, offer name based virtual hosting
 * etc.
 */
export const Ingress: Kind<Ingress, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: { status: { object: Ingress; operations: 'UPDATE' } } }> = { group: 'networking.k8s.io', version: 'v1', kind: 'Ingress', resource: 'ingresses' };

/**
 * IngressClass represents the class of the Ingress, referenced by the Ingress Spec. The
 * `ingressclass.kubernetes.io/is-default-class` annotation can be used to indicate that an IngressClass should be considered
 * default. When a single IngressClass resource has this annotation set to true, new Ingress resources without a class specified
 * will be assigned this default class.
 */
export type IngressClass = networking_v1.IngressClass;
/**
 * IngressClass represents the class of the Ingress, referenced by the Ingress Spec. The
 * `ingressclass.kubernetes.io/is-default-class` annotation can be used to indicate that an IngressClass should be considered
 * default. When a single IngressClass resource has this annotation set to true, new Ingress resources without a class specified
 * will be assigned this default class.
 */
export const IngressClass: Kind<IngressClass, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: {} }> = { group: 'networking.k8s.io', version: 'v1', kind: 'IngressClass', resource: 'ingressclasses', isClusterScoped: true };

/** NetworkPolicy describes what network traffic is allowed for a set of Pods */
export type NetworkPolicy = networking_v1.NetworkPolicy;
/** NetworkPolicy describes what network traffic is allowed for a set of Pods */
export const NetworkPolicy: Kind<NetworkPolicy, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: {} }> = { group: 'networking.k8s.io', version: 'v1', kind: 'NetworkPolicy', resource: 'networkpolicies' };

/**
 * ServiceCIDR defines a range of IP addresses using CIDR format (e.g. 192.168.0.0/24 or 2001:db2::/64). This range is used to
 * allocate ClusterIPs to Service objects.
 */
export type ServiceCIDR = networking_v1.ServiceCIDR;
/**
 * ServiceCIDR defines a range of IP addresses using CIDR format (e.g. 192.168.0.0/24 or 2001:db2::/64). This range is used to
 * allocate ClusterIPs to Service objects.
 */
export const ServiceCIDR: Kind<ServiceCIDR, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: { status: { object: ServiceCIDR; operations: 'UPDATE' } } }> = { group: 'networking.k8s.io', version: 'v1', kind: 'ServiceCIDR', resource: 'servicecidrs', isClusterScoped: true };

/**
 * RuntimeClass defines a class of container runtime supported in the cluster. The RuntimeClass is used to determine which
 * container runtime is used to run all containers in a pod. RuntimeClasses are manually defined by a user or cluster provisioner,
 * and referenced in the PodSpec. The Kubelet is responsible for resolving the RuntimeClassName reference before running the pod.
 * For more details, see https://kubernetes.io/docs/concepts/containers/runtime-class/
 */
export type RuntimeClass = node_v1.RuntimeClass;
/**
 * RuntimeClass defines a class of container runtime supported in the cluster. The RuntimeClass is used to determine which
 * container runtime is used to run all containers in a pod. RuntimeClasses are manually defined by a user or cluster provisioner,
 * and referenced in the PodSpec. The Kubelet is responsible for resolving the RuntimeClassName reference before running the pod.
 * For more details, see https://kubernetes.io/docs/concepts/containers/runtime-class/
 */
export const RuntimeClass: Kind<RuntimeClass, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: {} }> = { group: 'node.k8s.io', version: 'v1', kind: 'RuntimeClass', resource: 'runtimeclasses', isClusterScoped: true };

/** PodDisruptionBudget is an object to define the max disruption that can be caused to a collection of pods */
export type PodDisruptionBudget = policy_v1.PodDisruptionBudget;
/** PodDisruptionBudget is an object to define the max disruption that can be caused to a collection of pods */
export const PodDisruptionBudget: Kind<PodDisruptionBudget, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: { status: { object: PodDisruptionBudget; operations: 'UPDATE' } } }> = { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget', resource: 'poddisruptionbudgets' };

/**
 * ClusterRole is a cluster level, logical grouping of PolicyRules that can be referenced as a unit by a RoleBinding or
 * ClusterRoleBinding.
 */
export type ClusterRole = rbac_v1.ClusterRole;
/**
 * ClusterRole is a cluster level, logical grouping of PolicyRules that can be referenced as a unit by a RoleBinding or
 * ClusterRoleBinding.
 */
export const ClusterRole: Kind<ClusterRole, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: {} }> = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole', resource: 'clusterroles', isClusterScoped: true };

/**
 * ClusterRoleBinding references a ClusterRole, but not contain it.  It can reference a ClusterRole in the global namespace, and
 * adds who information via Subject.
 */
export type ClusterRoleBinding = rbac_v1.ClusterRoleBinding;
/**
 * ClusterRoleBinding references a ClusterRole, but not contain it.  It can reference a ClusterRole in the global namespace, and
 * adds who information via Subject.
 */
export const ClusterRoleBinding: Kind<ClusterRoleBinding, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: {} }> = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRoleBinding', resource: 'clusterrolebindings', isClusterScoped: true };

/** Role is a namespaced, logical grouping of PolicyRules that can be referenced as a unit by a RoleBinding. */
export type Role = rbac_v1.Role;
/** Role is a namespaced, logical grouping of PolicyRules that can be referenced as a unit by a RoleBinding. */
export const Role: Kind<Role, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: {} }> = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'Role', resource: 'roles' };

/**
 * RoleBinding references a role, but does not contain it.  It can reference a Role in the same namespace or a ClusterRole in the
 * global namespace. It adds who information via Subjects and namespace information by which namespace it exists in.  RoleBindings
 * in a given namespace only have effect in that namespace.
 */
export type RoleBinding = rbac_v1.RoleBinding;
/**
 * RoleBinding references a role, but does not contain it.  It can reference a Role in the same namespace or a ClusterRole in the
 * global namespace. It adds who information via Subjects and namespace information by which namespace it exists in.  RoleBindings
 * in a given namespace only have effect in that namespace.
 */
export const RoleBinding: Kind<RoleBinding, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: {} }> = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'RoleBinding', resource: 'rolebindings' };

/**
 * DeviceClass is a vendor- or admin-provided resource that contains device configuration and selectors. It can be referenced in
 * the device requests of a claim to apply these presets. Cluster scoped.
 */
export type DeviceClass = resource_v1.DeviceClass;
/**
 * DeviceClass is a vendor- or admin-provided resource that contains device configuration and selectors. It can be referenced in
 * the device requests of a claim to apply these presets. Cluster scoped.
 */
export const DeviceClass: Kind<DeviceClass, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: {} }> = { group: 'resource.k8s.io', version: 'v1', kind: 'DeviceClass', resource: 'deviceclasses', isClusterScoped: true };

/**
 * ResourceClaim describes a request for access to resources in the cluster, for use by workloads. For example, if a workload
 * needs an accelerator device with specific properties, this is how that request is expressed. The status stanza tracks whether
 * this claim has been satisfied and what specific resources have been allocated.
 */
export type ResourceClaim = resource_v1.ResourceClaim;
/**
 * ResourceClaim describes a request for access to resources in the cluster, for use by workloads. For example, if a workload
 * needs an accelerator device with specific properties, this is how that request is expressed. The status stanza tracks whether
 * this claim has been satisfied and what specific resources have been allocated.
 */
export const ResourceClaim: Kind<ResourceClaim, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: { status: { object: ResourceClaim; operations: 'UPDATE' } } }> = { group: 'resource.k8s.io', version: 'v1', kind: 'ResourceClaim', resource: 'resourceclaims' };

/** ResourceClaimTemplate is used to produce ResourceClaim objects. */
export type ResourceClaimTemplate = resource_v1.ResourceClaimTemplate;
/** ResourceClaimTemplate is used to produce ResourceClaim objects. */
export const ResourceClaimTemplate: Kind<ResourceClaimTemplate, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: {} }> = { group: 'resource.k8s.io', version: 'v1', kind: 'ResourceClaimTemplate', resource: 'resourceclaimtemplates' };

/**
 * ResourceSlice represents one or more resources in a pool of similar resources, managed by a common driver. A pool may span more
 * than one ResourceSlice, and exactly how many ResourceSlices comprise a pool is determined by the driver.
 *
 * At the moment, the only supported resources are devices with attributes and capacities. Each device in a given pool, regardless
 * of how many ResourceSlices, must have a unique name. The ResourceSlice in which a device gets published may change over time.
 * The unique identifier for a device is the tuple <driver name>, <pool name>, <device name>.
 *
 * Whenever a driver needs to update a pool, it increments the pool.Spec.Pool.Generation number and updates all ResourceSlices
 * with that new number and new resource definitions. A consumer must only use ResourceSlices with the highest generation number
 * and ignore all others.
 *
 * When allocating all resources in a pool matching certain criteria or when looking for the best solution among several different
 * alternatives, a consumer should check the number of ResourceSlices in a pool (included in each ResourceSlice) to determine
 * whether its view of a pool is complete and if not, should wait until the driver has completed updating the pool.
 *
 * For resources that are not local to a node, the node name is not set. Instead, the driver may use a node selector to specify
 * where the devices are available.
 */
export type ResourceSlice = resource_v1.ResourceSlice;
/**
 * ResourceSlice represents one or more resources in a pool of similar resources, managed by a common driver. A pool may span more
 * than one ResourceSlice, and exactly how many ResourceSlices comprise a pool is determined by the driver.
 *
 * At the moment, the only supported resources are devices with attributes and capacities. Each device in a given pool, regardless
 * of how many ResourceSlices, must have a unique name. The ResourceSlice in which a device gets published may change over time.
 * The unique identifier for a device is the tuple <driver name>, <pool name>, <device name>.
 *
 * Whenever a driver needs to update a pool, it increments the pool.Spec.Pool.Generation number and updates all ResourceSlices
 * with that new number and new resource definitions. A consumer must only use ResourceSlices with the highest generation number
 * and ignore all others.
 *
 * When allocating all resources in a pool matching certain criteria or when looking for the best solution among several different
 * alternatives, a consumer should check the number of ResourceSlices in a pool (included in each ResourceSlice) to determine
 * whether its view of a pool is complete and if not, should wait until the driver has completed updating the pool.
 *
 * For resources that are not local to a node, the node name is not set. Instead, the driver may use a node selector to specify
 * where the devices are available.
 */
export const ResourceSlice: Kind<ResourceSlice, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: {} }> = { group: 'resource.k8s.io', version: 'v1', kind: 'ResourceSlice', resource: 'resourceslices', isClusterScoped: true };

/** PriorityClass defines mapping from a priority class name to the priority integer value. The value can be any valid integer. */
export type PriorityClass = scheduling_v1.PriorityClass;
/** PriorityClass defines mapping from a priority class name to the priority integer value. The value can be any valid integer. */
export const PriorityClass: Kind<PriorityClass, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: {} }> = { group: 'scheduling.k8s.io', version: 'v1', kind: 'PriorityClass', resource: 'priorityclasses', isClusterScoped: true };

/**
 * CSIDriver captures information about a Container Storage Interface (CSI) volume driver deployed on the cluster. Kubernetes
 * attach detach controller uses this object to determine whether attach is required. Kubelet uses this object to determine
 * whether pod information needs to be passed on mount. CSIDriver objects are non-namespaced.
 */
export type CSIDriver = storage_v1.CSIDriver;
/**
 * CSIDriver captures information about a Container Storage Interface (CSI) volume driver deployed on the cluster. Kubernetes
 * attach detach controller uses this object to determine whether attach is required. Kubelet uses this object to determine
 * whether pod information needs to be passed on mount. CSIDriver objects are non-namespaced.
 */
export const CSIDriver: Kind<CSIDriver, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: {} }> = { group: 'storage.k8s.io', version: 'v1', kind: 'CSIDriver', resource: 'csidrivers', isClusterScoped: true };

/**
 * CSINode holds information about all CSI drivers installed on a node. CSI drivers do not need to create the CSINode object
 * directly. As long as they use the node-driver-registrar sidecar container, the kubelet will automatically populate the CSINode
 * object for the CSI driver as part of kubelet plugin registration. CSINode has the same name as a node. If the object is
 * missing, it means either there are no CSI Drivers available on the node, or the Kubelet version is low enough that it doesn't
 * create this object. CSINode has an OwnerReference that points to the corresponding node object.
 */
export type CSINode = storage_v1.CSINode;
/**
 * CSINode holds information about all CSI drivers installed on a node. CSI drivers do not need to create the CSINode object
 * directly. As long as they use the node-driver-registrar sidecar container, the kubelet will automatically populate the CSINode
 * object for the CSI driver as part of kubelet plugin registration. CSINode has the same name as a node. If the object is
 * missing, it means either there are no CSI Drivers available on the node, or the Kubelet version is low enough that it doesn't
 * create this object. CSINode has an OwnerReference that points to the corresponding node object.
 */
export const CSINode: Kind<CSINode, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: {} }> = { group: 'storage.k8s.io', version: 'v1', kind: 'CSINode', resource: 'csinodes', isClusterScoped: true };

/**
 * CSIStorageCapacity stores the result of one CSI GetCapacity call. For a given StorageClass, this describes the available
 * capacity in a particular topology segment.  This can be used when considering where to instantiate new PersistentVolumes.
 *
 * For example this can express things like: - StorageClass "standard" has "1234 GiB" available in
 * "topology.kubernetes.io/zone=us-east1" - StorageClass "localssd" has "10 GiB" available in
 * "kubernetes.io/hostname=knode-abc123"
 *
 * The following three cases all imply that no capacity is available for a certain combination: - no object exists with suitable
 * topology and storage class name - such an object exists, but the capacity is unset - such an object exists, but the capacity is
 * zero
 *
 * The producer of these objects can decide which approach is more suitable.
 *
 * They are consumed by the kube-scheduler when a CSI driver opts into capacity-aware scheduling with
 * CSIDriverSpec.StorageCapacity. The scheduler compares the MaximumVolumeSize against the requested size of pending volumes to
 * filter out unsuitable nodes. If MaximumVolumeSize is unset, it falls back to a comparison against the less precise Capacity. If
 * that is also unset, the scheduler assumes that capacity is insufficient and tries some other node.
 */
export type CSIStorageCapacity = storage_v1.CSIStorageCapacity;
/**
 * CSIStorageCapacity stores the result of one CSI GetCapacity call. For a given StorageClass, this describes the available
 * capacity in a particular topology segment.  This can be used when considering where to instantiate new PersistentVolumes.
 *
 * For example this can express things like: - StorageClass "standard" has "1234 GiB" available in
 * "topology.kubernetes.io/zone=us-east1" - StorageClass "localssd" has "10 GiB" available in
 * "kubernetes.io/hostname=knode-abc123"
 *
 * The following three cases all imply that no capacity is available for a certain combination: - no object exists with suitable
 * topology and storage class name - such an object exists, but the capacity is unset - such an object exists, but the capacity is
 * zero
 *
 * The producer of these objects can decide which approach is more suitable.
 *
 * They are consumed by the kube-scheduler when a CSI driver opts into capacity-aware scheduling with
 * CSIDriverSpec.StorageCapacity. The scheduler compares the MaximumVolumeSize against the requested size of pending volumes to
 * filter out unsuitable nodes. If MaximumVolumeSize is unset, it falls back to a comparison against the less precise Capacity. If
 * that is also unset, the scheduler assumes that capacity is insufficient and tries some other node.
 */
export const CSIStorageCapacity: Kind<CSIStorageCapacity, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: true; subresources: {} }> = { group: 'storage.k8s.io', version: 'v1', kind: 'CSIStorageCapacity', resource: 'csistoragecapacities' };

/**
 * StorageClass describes the parameters for a class of storage for which PersistentVolumes can be dynamically provisioned.
 *
 * StorageClasses are non-namespaced; the name of the storage class according to etcd is in ObjectMeta.Name.
 */
export type StorageClass = storage_v1.StorageClass;
/**
 * StorageClass describes the parameters for a class of storage for which PersistentVolumes can be dynamically provisioned.
 *
 * StorageClasses are non-namespaced; the name of the storage class according to etcd is in ObjectMeta.Name.
 */
export const StorageClass: Kind<StorageClass, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: {} }> = { group: 'storage.k8s.io', version: 'v1', kind: 'StorageClass', resource: 'storageclasses', isClusterScoped: true };

/**
 * VolumeAttachment captures the intent to attach or detach the specified volume to/from the specified node.
 *
 * VolumeAttachment objects are non-namespaced.
 */
export type VolumeAttachment = storage_v1.VolumeAttachment;
/**
 * VolumeAttachment captures the intent to attach or detach the specified volume to/from the specified node.
 *
 * VolumeAttachment objects are non-namespaced.
 */
export const VolumeAttachment: Kind<VolumeAttachment, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: { status: { object: VolumeAttachment; operations: 'UPDATE' } } }> = { group: 'storage.k8s.io', version: 'v1', kind: 'VolumeAttachment', resource: 'volumeattachments', isClusterScoped: true };

/**
 * VolumeAttributesClass represents a specification of mutable volume attributes defined by the CSI driver. The class can be
 * specified during dynamic provisioning of PersistentVolumeClaims, and changed in the PersistentVolumeClaim spec after
 * provisioning.
 */
export type VolumeAttributesClass = storage_v1.VolumeAttributesClass;
/**
 * VolumeAttributesClass represents a specification of mutable volume attributes defined by the CSI driver. The class can be
 * specified during dynamic provisioning of PersistentVolumeClaims, and changed in the PersistentVolumeClaim spec after
 * provisioning.
 */
export const VolumeAttributesClass: Kind<VolumeAttributesClass, { operations: 'CREATE' | 'UPDATE' | 'DELETE'; isNamespaced: false; subresources: {} }> = { group: 'storage.k8s.io', version: 'v1', kind: 'VolumeAttributesClass', resource: 'volumeattributesclasses', isClusterScoped: true };
