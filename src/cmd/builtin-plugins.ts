import type { AdmissionPluginClass } from '#apiserver/admission/attributes';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import type { Informers } from '#apiserver/registry/informers';
import { AlwaysAdmit, AlwaysDeny as AlwaysDenyAdmission } from '#plugins/admission/always';
import { DefaultIngressClass } from '#plugins/admission/default-ingress-class';
import { DefaultStorageClass } from '#plugins/admission/default-storage-class';
import { DefaultTolerationSeconds } from '#plugins/admission/default-toleration-seconds';
import { DenyServiceExternalIPs } from '#plugins/admission/deny-service-external-ips';
import { NamespaceLifecycle } from '#plugins/admission/namespace-lifecycle';
import { Priority } from '#plugins/admission/priority';
import { ServiceAccountAdmission } from '#plugins/admission/service-account';
import { StorageObjectInUseProtection } from '#plugins/admission/storage-object-in-use-protection';
import { TaintNodesByCondition } from '#plugins/admission/taint-nodes-by-condition';
import { AlwaysAllow, AlwaysDeny } from '#plugins/authorization/always';
import { Node } from '#plugins/authorization/node/node';
import { RBAC } from '#plugins/authorization/rbac/rbac';

/** Admission plugins by name, in the order in which they run. Upstream: kubernetes/pkg/kubeapiserver/options/plugins.go. */
export const admissionPlugins: ReadonlyMap<string, AdmissionPluginClass> = new Map<string, AdmissionPluginClass>([
  ['AlwaysAdmit', AlwaysAdmit],
  ['NamespaceLifecycle', NamespaceLifecycle],
  ['ServiceAccount', ServiceAccountAdmission],
  ['TaintNodesByCondition', TaintNodesByCondition],
  ['Priority', Priority],
  ['DefaultTolerationSeconds', DefaultTolerationSeconds],
  ['DefaultStorageClass', DefaultStorageClass],
  ['StorageObjectInUseProtection', StorageObjectInUseProtection],
  ['DefaultIngressClass', DefaultIngressClass],
  ['DenyServiceExternalIPs', DenyServiceExternalIPs],
  ['AlwaysDeny', AlwaysDenyAdmission],
]);

/** Those that are on where nothing is said, as upstream's are. */
export const defaultAdmissionPlugins: readonly string[] = [
  'NamespaceLifecycle',
  'ServiceAccount',
  'TaintNodesByCondition',
  'Priority',
  'DefaultTolerationSeconds',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'DefaultIngressClass',
];

/** Authorizers that need nothing but the server's own objects. */
export const authorizers: Readonly<Record<'AlwaysAllow' | 'AlwaysDeny' | 'Node' | 'RBAC', new (informers: Informers) => Authorizer>> = {
  AlwaysAllow,
  AlwaysDeny,
  Node,
  RBAC,
};
