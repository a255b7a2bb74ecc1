import type { KubeObject } from 'kubenest/sdk';
import type { ContainerSecurityContext, SELinuxOptions } from '../../common/pod-walker.ts';

/** A range of ids, both ends inclusive. */
export interface IdRange {
  readonly min: number;
  readonly max: number;
}
/** Permitted users or groups. `MustRunAs` and `MayRunAs` require ranges. */
export interface IdStrategy {
  readonly rule: string;
  readonly ranges?: readonly IdRange[];
}

/** policy/v1beta1 PodSecurityPolicySpec with defaults. */
export interface PolicySpec {
  readonly privileged?: boolean;
  readonly defaultAddCapabilities?: readonly string[];
  readonly requiredDropCapabilities?: readonly string[];
  readonly allowedCapabilities?: readonly string[];
  readonly volumes?: readonly string[];
  readonly hostNetwork?: boolean;
  readonly hostPorts?: readonly IdRange[];
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly seLinux: { readonly rule: string; readonly seLinuxOptions?: SELinuxOptions };
  readonly runAsUser: IdStrategy;
  readonly runAsGroup?: IdStrategy;
  readonly supplementalGroups: IdStrategy;
  readonly fsGroup: IdStrategy;
  readonly readOnlyRootFilesystem?: boolean;
  readonly defaultAllowPrivilegeEscalation?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly allowedHostPaths?: readonly { readonly pathPrefix?: string; readonly readOnly?: boolean }[];
  readonly allowedFlexVolumes?: readonly { readonly driver: string }[];
  readonly allowedCSIDrivers?: readonly { readonly name: string }[];
  readonly allowedUnsafeSysctls?: readonly string[];
  readonly forbiddenSysctls?: readonly string[];
  readonly allowedProcMountTypes?: readonly string[];
  readonly runtimeClass?: { readonly allowedRuntimeClassNames?: readonly string[]; readonly defaultRuntimeClassName?: string };
}
export interface Policy extends KubeObject {
  readonly spec: PolicySpec;
}

export type Capabilities = NonNullable<ContainerSecurityContext['capabilities']>;
export type SeccompProfile = NonNullable<ContainerSecurityContext['seccompProfile']>;

/** True if pods can be checked against a policy; validation does not require ranges or SELinux options. */
export function isComplete({ spec }: Policy): boolean {
  const { runAsUser, runAsGroup, supplementalGroups, fsGroup, seLinux } = spec;
  const hasRanges = (strategy: IdStrategy | undefined): boolean =>
    (strategy?.rule !== 'MustRunAs' && strategy?.rule !== 'MayRunAs') || (strategy.ranges ?? []).length > 0;
  return (
    [runAsUser, runAsGroup, supplementalGroups, fsGroup].every(hasRanges) && (seLinux.rule !== 'MustRunAs' || !!seLinux.seLinuxOptions)
  );
}
