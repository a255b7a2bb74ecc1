// The types of k8s.io/kube-aggregator/pkg/apis/apiregistration/v1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';

export interface APIService extends KubeObject {
  spec?: APIServiceSpec;
  status?: APIServiceStatus;
}

export interface APIServiceCondition {
  type?: string;
  status?: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

export interface APIServiceList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: APIService[];
}

export interface APIServiceSpec {
  service?: ServiceReference;
  group?: string;
  version?: string;
  insecureSkipTLSVerify?: boolean;
  caBundle?: string;
  groupPriorityMinimum?: number;
  versionPriority?: number;
}

export interface APIServiceStatus {
  conditions?: APIServiceCondition[];
}

export interface ServiceReference {
  namespace?: string;
  name?: string;
  port?: number;
}
