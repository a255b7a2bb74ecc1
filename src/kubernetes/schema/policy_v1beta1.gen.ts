// The types of k8s.io/api/policy/v1beta1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import type { SELinuxOptions } from './core_v1.gen.ts';

export interface AllowedCSIDriver {
  name?: string;
}

export interface AllowedFlexVolume {
  driver?: string;
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
  min?: number;
  max?: number;
}

export interface IDRange {
  min?: number;
  max?: number;
}

export interface PodSecurityPolicy extends KubeObject {
  spec?: PodSecurityPolicySpec;
}

export interface PodSecurityPolicyList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: PodSecurityPolicy[];
}

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
  seLinux?: SELinuxStrategyOptions;
  runAsUser?: RunAsUserStrategyOptions;
  runAsGroup?: RunAsGroupStrategyOptions;
  supplementalGroups?: SupplementalGroupsStrategyOptions;
  fsGroup?: FSGroupStrategyOptions;
  readOnlyRootFilesystem?: boolean;
  defaultAllowPrivilegeEscalation?: boolean;
  allowPrivilegeEscalation?: boolean;
  allowedHostPaths?: AllowedHostPath[];
  allowedFlexVolumes?: AllowedFlexVolume[];
  allowedCSIDrivers?: AllowedCSIDriver[];
  allowedUnsafeSysctls?: string[];
  forbiddenSysctls?: string[];
  allowedProcMountTypes?: string[];
  runtimeClass?: RuntimeClassStrategyOptions;
}

export interface RunAsGroupStrategyOptions {
  rule?: string;
  ranges?: IDRange[];
}

export interface RunAsUserStrategyOptions {
  rule?: string;
  ranges?: IDRange[];
}

export interface RuntimeClassStrategyOptions {
  allowedRuntimeClassNames?: string[];
  defaultRuntimeClassName?: string;
}

export interface SELinuxStrategyOptions {
  rule?: string;
  seLinuxOptions?: SELinuxOptions;
}

export interface SupplementalGroupsStrategyOptions {
  rule?: string;
  ranges?: IDRange[];
}
