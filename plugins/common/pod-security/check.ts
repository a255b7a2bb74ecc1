import { containersOf, type Container, type Pod, type PodSpec } from '../pod-walker.ts';

/** The checked parts of a pod or a pod template. */
export type CheckedPod = Pick<Pod, 'metadata' | 'spec'>;

/** A violation by a pod: `host namespaces (hostNetwork=true)`. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

/** A check as of a Kubernetes version. Returns undefined for a compliant pod. */
export interface VersionedCheck {
  /** Minor version in which it was introduced. */
  readonly since: number;
  check(pod: CheckedPod): Violation | undefined;
}

export interface Check {
  /** Id of the check. Checks run in the order of their ids, those of the baseline first. */
  readonly id: string;
  readonly level: 'baseline' | 'restricted';
  /** Versions in ascending order. */
  readonly versions: readonly VersionedCheck[];
  /** Baseline checks that this one replaces at its level. */
  readonly overrides?: readonly string[];
}

export interface SeccompOrAppArmorProfile {
  readonly type?: string;
}
export interface SELinuxOptions {
  readonly user?: string;
  readonly role?: string;
  readonly type?: string;
}
/** The fields shared by pods and containers. */
export interface CommonSecurityContext {
  readonly seLinuxOptions?: SELinuxOptions;
  readonly windowsOptions?: { readonly hostProcess?: boolean };
  readonly runAsUser?: number;
  readonly runAsNonRoot?: boolean;
  readonly seccompProfile?: SeccompOrAppArmorProfile;
  readonly appArmorProfile?: SeccompOrAppArmorProfile;
}
export interface PodSecurityContext extends CommonSecurityContext {
  readonly sysctls?: readonly { readonly name: string }[];
}
export interface ContainerSecurityContext extends CommonSecurityContext {
  readonly privileged?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly procMount?: string;
}
interface Handler {
  readonly httpGet?: { readonly host?: string };
  readonly tcpSocket?: { readonly host?: string };
}
export interface CheckedContainer extends Container {
  readonly securityContext?: ContainerSecurityContext;
  readonly ports?: readonly { readonly hostPort?: number }[];
  readonly livenessProbe?: Handler;
  readonly readinessProbe?: Handler;
  readonly startupProbe?: Handler;
  readonly lifecycle?: { readonly postStart?: Handler; readonly preStop?: Handler };
}

export function podContext({ securityContext }: PodSpec): PodSecurityContext | undefined {
  return securityContext as PodSecurityContext | undefined;
}

/** Returns the containers of all kinds. */
export function checkedContainers(spec: PodSpec): CheckedContainer[] {
  return Array.from(containersOf(spec), ({ container }) => container as CheckedContainer);
}

/** Returns the names of the violating containers. */
export function badContainers(spec: PodSpec, isBad: (container: CheckedContainer) => boolean): string[] {
  return checkedContainers(spec)
    .filter(isBad)
    .map(({ name }) => name);
}

export function pluralize(singular: string, plural: string, count: number): string {
  return count === 1 ? singular : plural;
}

export function joinQuoted(items: Iterable<string>): string {
  const list = [...items];
  return list.length === 0 ? '' : `"${list.join('", "')}"`;
}

/** Formats names: `container "a"`, `containers "a", "b"`. */
export function containersText(names: readonly string[]): string {
  return `${pluralize('container', 'containers', names.length)} ${joinQuoted(names)}`;
}

/** Formats the violators: the pod, containers, or both. */
export function settersText(podIsBad: boolean, names: readonly string[]): string {
  return [...(podIsBad ? ['pod'] : []), ...(names.length > 0 ? [containersText(names)] : [])].join(' and ');
}

export function isWindows(spec: PodSpec): boolean {
  return (spec['os'] as { name?: string } | undefined)?.name === 'windows';
}

/** True for pods with a user namespace. */
export function hasOwnUsers(spec: PodSpec): boolean {
  return spec['hostUsers'] === false;
}
