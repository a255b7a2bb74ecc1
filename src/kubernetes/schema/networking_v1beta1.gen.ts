// The types of k8s.io/api/networking/v1beta1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import type { Condition } from '#apimachinery/meta/schema/meta_v1.gen';

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

export interface ParentReference {
  group?: string;
  resource?: string;
  namespace?: string;
  name?: string;
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
