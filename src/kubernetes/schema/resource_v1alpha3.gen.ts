// The types of k8s.io/api/resource/v1alpha3. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import type { Condition } from '#apimachinery/meta/schema/meta_v1.gen';

export interface DeviceTaint {
  key?: string;
  value?: string;
  effect?: string;
  timeAdded?: string;
}

export interface DeviceTaintRule extends KubeObject {
  spec?: DeviceTaintRuleSpec;
  status?: DeviceTaintRuleStatus;
}

export interface DeviceTaintRuleList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: DeviceTaintRule[];
}

export interface DeviceTaintRuleSpec {
  deviceSelector?: DeviceTaintSelector;
  taint?: DeviceTaint;
}

export interface DeviceTaintRuleStatus {
  conditions?: Condition[];
}

export interface DeviceTaintSelector {
  driver?: string;
  pool?: string;
  device?: string;
}

export interface PoolStatus {
  driver?: string;
  poolName?: string;
  generation?: number;
  resourceSliceCount?: number;
  totalDevices?: number;
  allocatedDevices?: number;
  availableDevices?: number;
  unavailableDevices?: number;
  nodeName?: string;
  validationError?: string;
}

export interface ResourcePoolStatusRequest extends KubeObject {
  spec?: ResourcePoolStatusRequestSpec;
  status?: ResourcePoolStatusRequestStatus;
}

export interface ResourcePoolStatusRequestList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: ResourcePoolStatusRequest[];
}

export interface ResourcePoolStatusRequestSpec {
  driver?: string;
  poolName?: string;
  limit?: number;
}

export interface ResourcePoolStatusRequestStatus {
  poolCount?: number;
  pools?: PoolStatus[];
  conditions?: Condition[];
}
