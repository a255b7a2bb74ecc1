// The types of k8s.io/api/resource/v1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta, ObjectMeta } from '#apimachinery/meta/types';
import type { NodeSelector } from './core_v1.gen.ts';
import type { Condition } from '#apimachinery/meta/schema/meta_v1.gen';

export interface AllocatedDeviceStatus {
  driver?: string;
  pool?: string;
  device?: string;
  shareID?: string;
  conditions?: Condition[];
  data?: unknown;
  networkData?: NetworkDeviceData;
}

export interface AllocationResult {
  devices?: DeviceAllocationResult;
  nodeSelector?: NodeSelector;
  allocationTimestamp?: string;
}

export interface CELDeviceSelector {
  expression?: string;
}

export interface CapacityRequestPolicy {
  default?: string;
  validValues?: string[];
  validRange?: CapacityRequestPolicyRange;
}

export interface CapacityRequestPolicyRange {
  min?: string;
  max?: string;
  step?: string;
}

export interface CapacityRequirements {
  requests?: Record<string, string>;
}

export interface Counter {
  value?: string;
}

export interface CounterSet {
  name?: string;
  counters?: Record<string, Counter>;
}

export interface Device {
  name?: string;
  attributes?: Record<string, DeviceAttribute>;
  capacity?: Record<string, DeviceCapacity>;
  consumesCounters?: DeviceCounterConsumption[];
  nodeName?: string;
  nodeSelector?: NodeSelector;
  allNodes?: boolean;
  taints?: DeviceTaint[];
  bindsToNode?: boolean;
  bindingConditions?: string[];
  bindingFailureConditions?: string[];
  allowMultipleAllocations?: boolean;
  nodeAllocatableResourceMappings?: Record<string, NodeAllocatableResourceMapping>;
}

export interface DeviceAllocationConfiguration {
  source?: string;
  requests?: string[];
  opaque?: OpaqueDeviceConfiguration;
}

export interface DeviceAllocationResult {
  results?: DeviceRequestAllocationResult[];
  config?: DeviceAllocationConfiguration[];
}

export interface DeviceAttribute {
  int?: number;
  bool?: boolean;
  string?: string;
  version?: string;
  ints?: number[];
  bools?: boolean[];
  strings?: string[];
  versions?: string[];
}

export interface DeviceCapacity {
  value?: string;
  requestPolicy?: CapacityRequestPolicy;
}

export interface DeviceClaim {
  requests?: DeviceRequest[];
  constraints?: DeviceConstraint[];
  config?: DeviceClaimConfiguration[];
}

export interface DeviceClaimConfiguration {
  requests?: string[];
  opaque?: OpaqueDeviceConfiguration;
}

export interface DeviceClass extends KubeObject {
  spec?: DeviceClassSpec;
}

export interface DeviceClassConfiguration {
  opaque?: OpaqueDeviceConfiguration;
}

export interface DeviceClassList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: DeviceClass[];
}

export interface DeviceClassSpec {
  selectors?: DeviceSelector[];
  config?: DeviceClassConfiguration[];
  extendedResourceName?: string;
}

export interface DeviceConstraint {
  requests?: string[];
  matchAttribute?: string;
  distinctAttribute?: string;
}

export interface DeviceCounterConsumption {
  counterSet?: string;
  counters?: Record<string, Counter>;
}

export interface DeviceRequest {
  name?: string;
  exactly?: ExactDeviceRequest;
  firstAvailable?: DeviceSubRequest[];
}

export interface DeviceRequestAllocationResult {
  request?: string;
  driver?: string;
  pool?: string;
  device?: string;
  adminAccess?: boolean;
  tolerations?: DeviceToleration[];
  bindingConditions?: string[];
  bindingFailureConditions?: string[];
  shareID?: string;
  consumedCapacity?: Record<string, string>;
}

export interface DeviceSelector {
  cel?: CELDeviceSelector;
}

export interface DeviceSubRequest {
  name?: string;
  deviceClassName?: string;
  selectors?: DeviceSelector[];
  allocationMode?: string;
  count?: number;
  tolerations?: DeviceToleration[];
  capacity?: CapacityRequirements;
}

export interface DeviceTaint {
  key?: string;
  value?: string;
  effect?: string;
  timeAdded?: string;
}

export interface DeviceToleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export interface ExactDeviceRequest {
  deviceClassName?: string;
  selectors?: DeviceSelector[];
  allocationMode?: string;
  count?: number;
  adminAccess?: boolean;
  tolerations?: DeviceToleration[];
  capacity?: CapacityRequirements;
}

export interface NetworkDeviceData {
  interfaceName?: string;
  ips?: string[];
  hardwareAddress?: string;
}

export interface NodeAllocatableResourceMapping {
  capacityKey?: string;
  allocationMultiplier?: string;
}

export interface OpaqueDeviceConfiguration {
  driver?: string;
  parameters?: unknown;
}

export interface ResourceClaim extends KubeObject {
  spec?: ResourceClaimSpec;
  status?: ResourceClaimStatus;
}

export interface ResourceClaimConsumerReference {
  apiGroup?: string;
  resource?: string;
  name?: string;
  uid?: string;
}

export interface ResourceClaimList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: ResourceClaim[];
}

export interface ResourceClaimSpec {
  devices?: DeviceClaim;
}

export interface ResourceClaimStatus {
  allocation?: AllocationResult;
  reservedFor?: ResourceClaimConsumerReference[];
  devices?: AllocatedDeviceStatus[];
}

export interface ResourceClaimTemplate extends KubeObject {
  spec?: ResourceClaimTemplateSpec;
}

export interface ResourceClaimTemplateList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: ResourceClaimTemplate[];
}

export interface ResourceClaimTemplateSpec {
  metadata?: ObjectMeta;
  spec?: ResourceClaimSpec;
}

export interface ResourcePool {
  name?: string;
  generation?: number;
  resourceSliceCount?: number;
}

export interface ResourceSlice extends KubeObject {
  spec?: ResourceSliceSpec;
}

export interface ResourceSliceList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: ResourceSlice[];
}

export interface ResourceSliceSpec {
  driver?: string;
  pool?: ResourcePool;
  nodeName?: string;
  nodeSelector?: NodeSelector;
  allNodes?: boolean;
  devices?: Device[];
  perDeviceNodeSelection?: boolean;
  sharedCounters?: CounterSet[];
}
