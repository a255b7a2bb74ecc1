import type { Container, ContainerStatus, EphemeralContainer, Pod, PodStatus } from 'kubenest/types/core_v1';

/** Part that a container has in its pod. */
export type Role = 'init' | 'sidecar' | 'main' | 'ephemeral';

/** A container of a pod with its part and its status, if it has one. */
export interface PodContainer {
  readonly container: Container;
  readonly role: Role;
  readonly status: ContainerStatus | undefined;
}

/** True for an init container that keeps running (a sidecar). Upstream: pkg/api/v1/pod (IsRestartableInitContainer). */
export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always';
}

/** Lists the containers in the order in which they start. */
export function containersOf({ spec = {} }: Pod, status: PodStatus | undefined): PodContainer[] {
  const found = (statuses: ContainerStatus[] | undefined, name: string | undefined): ContainerStatus | undefined =>
    statuses?.find((one) => one.name === name);
  return [
    ...(spec.initContainers ?? []).map((container): PodContainer => {
      const role = isSidecar(container) ? 'sidecar' : 'init';
      return { container, role, status: found(status?.initContainerStatuses, container.name) };
    }),
    ...(spec.containers ?? []).map((container): PodContainer => {
      return { container, role: 'main', status: found(status?.containerStatuses, container.name) };
    }),
    ...(spec.ephemeralContainers ?? []).map((container: EphemeralContainer): PodContainer => {
      return { container, role: 'ephemeral', status: found(status?.ephemeralContainerStatuses, container.name) };
    }),
  ];
}

/** Returns the status of a container of the pod. */
export function statusOf({ status }: Pod, { name }: Pick<Container, 'name'>): ContainerStatus | undefined {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {};
  const has = (one: ContainerStatus): boolean => one.name === name;
  return containerStatuses.find(has) ?? initContainerStatuses.find(has) ?? ephemeralContainerStatuses.find(has);
}

/** True if a container restarts after the exit code. Upstream: pkg/api/v1/pod (ContainerShouldRestart). */
export function shouldRestart({ container, role }: PodContainer, { spec = {} }: Pod, exitCode: number): boolean {
  if (role === 'ephemeral') return false;
  for (const { action, exitCodes } of container.restartPolicyRules ?? []) {
    const isListed = exitCodes?.values?.includes(exitCode) ?? false;
    if (action === 'Restart' && exitCodes && isListed === (exitCodes.operator === 'In')) return true;
  }
  const policy = container.restartPolicy ?? spec.restartPolicy ?? 'Always';
  // An init container that succeeded is done, whatever the policy.
  if (role === 'init' && exitCode === 0) return false;
  if (policy === 'Always') return true;
  return policy === 'OnFailure' && exitCode !== 0;
}

/** Exit code of the last run of a container that is not running; undefined before its first end. */
export function lastExitCode(status: ContainerStatus | undefined): number | undefined {
  const ended = status?.state?.terminated ?? (status?.state?.waiting ? status.lastState?.terminated : undefined);
  return ended?.exitCode;
}
