import type { KubeObject } from 'kubenest/sdk';
import type { Container, PodSecurityContext, PodSpec } from '../pod-walker.ts';

/** The checked parts of a pod or a pod template, which may not be validated yet. */
export interface CheckedPod {
  readonly metadata: KubeObject['metadata'];
  readonly spec: Partial<PodSpec>;
}

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

export function podContext({ securityContext }: CheckedPod['spec']): PodSecurityContext | undefined {
  return securityContext;
}

/** Returns the containers of all kinds, in the order of `containersOf`. */
export function checkedContainers({ initContainers, containers, ephemeralContainers }: CheckedPod['spec']): readonly Container[] {
  if (containers && !initContainers && !ephemeralContainers) return containers;
  return [...(initContainers ?? []), ...(containers ?? []), ...((ephemeralContainers ?? []) as readonly Container[])];
}

/** Returns the names of the violating containers. */
export function badContainers(spec: CheckedPod['spec'], isBad: (container: Container) => boolean): string[] {
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

export function isWindows(spec: CheckedPod['spec']): boolean {
  return spec.os?.name === 'windows';
}

/** True for pods with a user namespace. */
export function hasOwnUsers(spec: CheckedPod['spec']): boolean {
  return spec.hostUsers === false;
}
