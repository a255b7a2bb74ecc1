import { containersOf, type Container, type Pod, type PodSpec } from '../pod-walker.ts';

/** The parts of a pod that are checked: of a pod itself or of a template. */
export type CheckedPod = Pick<Pod, 'metadata' | 'spec'>;

/** What is wrong with a pod: `host namespaces (hostNetwork=true)`. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

/** One rule, as it is from a version of Kubernetes on. Returns undefined for a pod that keeps to it. */
export interface VersionedCheck {
  /** The minor version. */
  readonly since: number;
  check(pod: CheckedPod): Violation | undefined;
}

export interface Check {
  /** Checks run in the order of their ids, those of the baseline first. */
  readonly id: string;
  readonly level: 'baseline' | 'restricted';
  /** Ascending. */
  readonly versions: readonly VersionedCheck[];
  /** Checks of the baseline that this one makes needless at its level. */
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
/** The members that pods and containers share. */
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

/** The containers of all sorts. */
export function checkedContainers(spec: PodSpec): CheckedContainer[] {
  return Array.from(containersOf(spec), ({ container }) => container as CheckedContainer);
}

/** The names of the containers that are bad. */
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

/** `container "a"`, `containers "a", "b"`. */
export function containersText(names: readonly string[]): string {
  return `${pluralize('container', 'containers', names.length)} ${joinQuoted(names)}`;
}

/** Who set something: the pod, containers, or both. */
export function settersText(podIsBad: boolean, names: readonly string[]): string {
  return [...(podIsBad ? ['pod'] : []), ...(names.length > 0 ? [containersText(names)] : [])].join(' and ');
}

export function isWindows(spec: PodSpec): boolean {
  return (spec['os'] as { name?: string } | undefined)?.name === 'windows';
}

/** Pods whose users are not those of the node. */
export function hasOwnUsers(spec: PodSpec): boolean {
  return spec['hostUsers'] === false;
}
