// The types of k8s.io/api/networking/v1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import type { TypedLocalObjectReference } from './core_v1.gen.ts';
import type { Condition, LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';

export interface HTTPIngressPath {
  path?: string;
  pathType?: string;
  backend?: IngressBackend;
}

export interface HTTPIngressRuleValue {
  paths?: HTTPIngressPath[];
}

export interface IPAddress extends KubeObject {
  spec?: IPAddressSpec;
}

export interface IPAddressList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: IPAddress[];
}

export interface IPAddressSpec {
  parentRef?: ParentReference;
}

export interface IPBlock {
  cidr?: string;
  except?: string[];
}

export interface Ingress extends KubeObject {
  spec?: IngressSpec;
  status?: IngressStatus;
}

export interface IngressBackend {
  service?: IngressServiceBackend;
  resource?: TypedLocalObjectReference;
}

export interface IngressClass extends KubeObject {
  spec?: IngressClassSpec;
}

export interface IngressClassList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: IngressClass[];
}

export interface IngressClassParametersReference {
  apiGroup?: string;
  kind?: string;
  name?: string;
  scope?: string;
  namespace?: string;
}

export interface IngressClassSpec {
  controller?: string;
  parameters?: IngressClassParametersReference;
}

export interface IngressList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: Ingress[];
}

export interface IngressLoadBalancerIngress {
  ip?: string;
  hostname?: string;
  ports?: IngressPortStatus[];
}

export interface IngressLoadBalancerStatus {
  ingress?: IngressLoadBalancerIngress[];
}

export interface IngressPortStatus {
  port?: number;
  protocol?: string;
  error?: string;
}

export interface IngressRule {
  host?: string;
  http?: HTTPIngressRuleValue;
}

export interface IngressServiceBackend {
  name?: string;
  port?: ServiceBackendPort;
}

export interface IngressSpec {
  ingressClassName?: string;
  defaultBackend?: IngressBackend;
  tls?: IngressTLS[];
  rules?: IngressRule[];
}

export interface IngressStatus {
  loadBalancer?: IngressLoadBalancerStatus;
}

export interface IngressTLS {
  hosts?: string[];
  secretName?: string;
}

export interface NetworkPolicy extends KubeObject {
  spec?: NetworkPolicySpec;
}

export interface NetworkPolicyEgressRule {
  ports?: NetworkPolicyPort[];
  to?: NetworkPolicyPeer[];
}

export interface NetworkPolicyIngressRule {
  ports?: NetworkPolicyPort[];
  from?: NetworkPolicyPeer[];
}

export interface NetworkPolicyList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: NetworkPolicy[];
}

export interface NetworkPolicyPeer {
  podSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  ipBlock?: IPBlock;
}

export interface NetworkPolicyPort {
  protocol?: string;
  port?: number | string;
  endPort?: number;
}

export interface NetworkPolicySpec {
  podSelector?: LabelSelector;
  ingress?: NetworkPolicyIngressRule[];
  egress?: NetworkPolicyEgressRule[];
  policyTypes?: string[];
}

export interface ParentReference {
  group?: string;
  resource?: string;
  namespace?: string;
  name?: string;
}

export interface ServiceBackendPort {
  name?: string;
  number?: number;
}

export interface ServiceCIDR extends KubeObject {
  spec?: ServiceCIDRSpec;
  status?: ServiceCIDRStatus;
}

export interface ServiceCIDRList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: ServiceCIDR[];
}

export interface ServiceCIDRSpec {
  cidrs?: string[];
}

export interface ServiceCIDRStatus {
  conditions?: Condition[];
}
