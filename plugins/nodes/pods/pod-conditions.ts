import type { Pod, PodCondition, PodStatus } from 'kubenest/types/core_v1';
import { isSidecar } from './container-roles.ts';
import { hasInitialized, type Phase } from './pod-phase.ts';

type Verdict = Pick<PodCondition, 'status' | 'reason' | 'message'>;
const fulfilled: Verdict = { status: 'True' };
const terminal = (phase: Phase): Verdict => ({ status: 'False', reason: phase === 'Failed' ? 'PodFailed' : 'PodCompleted' });
const listed = (names: readonly string[]): string => `[${names.join(' ')}]`;

/** Conditions that the kubelet owns, in the order in which it writes them. */
const owned = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'] as const;

/**
 * Returns the conditions of a pod: those of other owners unchanged, then the kubelet's. A condition that keeps its status keeps its
 * transition time. Upstream: kubernetes/pkg/kubelet/status/generate.go.
 */
export function conditionsOf(pod: Pod, status: PodStatus, phase: Phase, now: string): PodCondition[] {
  const old = pod.status?.conditions ?? [];
  const containersReady = containersReadyOf(pod, status, phase);
  const isTerminal = phase === 'Succeeded' || phase === 'Failed';
  const verdicts: Record<(typeof owned)[number], Verdict> = {
    PodReadyToStartContainers: isTerminal || !status.podIP ? { status: 'False' } : fulfilled,
    Initialized: initializedOf(pod, status, phase),
    Ready: containersReady.status === 'True' ? gatesOf(pod, old) : containersReady,
    ContainersReady: containersReady,
    PodScheduled: fulfilled,
  };
  return [
    ...old.filter(({ type }) => !(owned as readonly (string | undefined)[]).includes(type)),
    ...owned.map((type) => condition(type, verdicts[type], old, pod.metadata.generation, now)),
  ];
}

function condition(type: string, verdict: Verdict, old: PodCondition[], generation: number | undefined, now: string): PodCondition {
  const before = old.find((one) => one.type === type);
  const lastTransitionTime = before?.status === verdict.status ? (before?.lastTransitionTime ?? now) : now;
  return { type, ...(generation !== undefined && { observedGeneration: generation }), lastTransitionTime, ...verdict };
}

function containersReadyOf({ spec = {} }: Pod, status: PodStatus, phase: Phase): Verdict {
  if (phase === 'Succeeded' || phase === 'Failed') return terminal(phase);
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  const unready = [...(spec.initContainers ?? []).filter(isSidecar), ...(spec.containers ?? [])]
    .filter(({ name }) => !statuses.find((one) => one.name === name)?.ready)
    .map(({ name = '' }) => name);
  if (unready.length === 0) return fulfilled;
  return { status: 'False', reason: 'ContainersNotReady', message: `containers with unready status: ${listed(unready)}` };
}

function gatesOf({ spec = {} }: Pod, conditions: PodCondition[]): Verdict {
  const problems = (spec.readinessGates ?? []).flatMap(({ conditionType = '' }) => {
    const found = conditions.find(({ type }) => type === conditionType);
    if (!found) return [`corresponding condition of pod readiness gate ${JSON.stringify(conditionType)} does not exist.`];
    if (found.status === 'True') return [];
    return [`the status of pod readiness gate ${JSON.stringify(conditionType)} is not "True", but ${found.status}`];
  });
  return problems.length === 0 ? fulfilled : { status: 'False', reason: 'ReadinessGatesNotReady', message: problems.join(', ') };
}

function initializedOf(pod: Pod, status: PodStatus, phase: Phase): Verdict {
  if (phase === 'Succeeded') return { status: 'True', reason: 'PodCompleted' };
  if (hasInitialized(pod, status)) return fulfilled;
  const incomplete = (pod.spec?.initContainers ?? [])
    .filter((container) => {
      const found = status.initContainerStatuses?.find(({ name }) => name === container.name);
      return isSidecar(container) ? !found?.started : !found?.ready;
    })
    .map(({ name = '' }) => name);
  if (incomplete.length === 0) return fulfilled;
  return { status: 'False', reason: 'ContainersNotInitialized', message: `containers with incomplete status: ${listed(incomplete)}` };
}
