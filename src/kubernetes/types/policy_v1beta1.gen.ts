// The types of k8s.io/api/policy/v1beta1 for packages. Written by `npm run generate`; do not edit.
import type { SELinuxOptions } from './core_v1.gen.ts';
import type { ListMeta, ObjectMeta } from './meta_v1.gen.ts';

export interface AllowedCSIDriver {
  name: string;
}

export interface AllowedFlexVolume {
  driver: string;
}

export interface AllowedHostPath {
  pathPrefix?: string;
  readOnly?: boolean;
}

export interface FSGroupStrategyOptions {
  rule?: string;
  ranges?: IDRange[];
}

export interface HostPortRange {
  min: number;
  max: number;
}

export interface IDRange {
  min: number;
  max: number;
}

export type PodSecurityPolicy = {
  kind: 'PodSecurityPolicy';
  apiVersion: 'policy/v1beta1';
  metadata: ObjectMeta;
  spec: PodSecurityPolicySpec;
};

export type PodSecurityPolicyList = {
  kind: 'PodSecurityPolicyList';
  apiVersion: 'policy/v1beta1';
  metadata: ListMeta;
  items: PodSecurityPolicy[];
};

export interface PodSecurityPolicySpec {
  privileged?: boolean;
  defaultAddCapabilities?: string[];
  requiredDropCapabilities?: string[];
  allowedCapabilities?: string[];
  volumes?: string[];
  hostNetwork?: boolean;
  hostPorts?: HostPortRange[];
  hostPID?: boolean;
  hostIPC?: boolean;
  seLinux: SELinuxStrategyOptions;
  runAsUser: RunAsUserStrategyOptions;
  runAsGroup?: RunAsGroupStrategyOptions;
  supplementalGroups: SupplementalGroupsStrategyOptions;
  fsGroup: FSGroupStrategyOptions;
  readOnlyRootFilesystem?: boolean;
  defaultAllowPrivilegeEscalation?: boolean;
  allowPrivilegeEscalation?: boolean;
  allowedHostPaths?: AllowedHostPath[];
  allowedFlexVolumes?: AllowedFlexVolume[];
  allowedCSIDrivers?: AllowedCSIDriver[];
  allowedUnsafeSysctls?: string[];
  forbiddenSysctls?: string[];
  allowedProcMountTypes?: ('Default' | 'Unmasked')[];
  runtimeClass?: RuntimeClassStrategyOptions;
}

export interface RunAsGroupStrategyOptions {
  rule: string;
  ranges?: IDRange[];
}

export interface RunAsUserStrategyOptions {
  rule: string;
  ranges?: IDRange[];
}

export interface RuntimeClassStrategyOptions {
  allowedRuntimeClassNames: string[];
  defaultRuntimeClassName?: string;
}

export interface SELinuxStrategyOptions {
  rule: string;
  seLinuxOptions?: SELinuxOptions;
}

export interface SupplementalGroupsStrategyOptions {
  rule?: string;
  ranges?: IDRange[];
}
