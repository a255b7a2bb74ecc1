import {
  Clock,
  Controller,
  ControllerClient,
  EventRecorder,
  formatTime,
  inject,
  isConflict,
  parseTime,
  type ReconcileRequest,
  type ReconcileResult,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { Pod, PodCondition } from 'kubenest/types/core_v1';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from 'kubenest/types/policy_v1';
import { asManager } from '../common/as-manager.ts';
import { isPodTerminal, pods } from '../common/pods.ts';
import { selectorOf } from '../../common/selectors.ts';
import { desiredHealthy, disruptedPods, failedStatus, formatSelector, healthyPods, needsScale, nextStatus } from './budget-status.ts';
import { ControllerScales } from './controller-scale.ts';

const budgets = { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets', kind: 'PodDisruptionBudget' } as const;
/** Start of the name in requests for pods that were to be evicted: `pod/NAME`. Names of budgets have no slash. */
const podPrefix = 'pod/';
/** Time after which the condition of a pod that was not evicted is reset. Upstream: stalePodDisruptionTimeout. */
const staleMs = 2 * 60_000;

/** Returns the time until the condition DisruptionTarget of a pod is stale, in milliseconds; undefined if it never is. */
export function staleInMs({ metadata, status }: Pod, nowMs: number): number | undefined {
  const condition = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  if (metadata.deletionTimestamp || condition?.status !== 'True' || condition.reason === 'TerminationByKubelet') return undefined;
  if (isPodTerminal({ metadata, status } as Pod)) return undefined;
  return Math.max(0, (condition.lastTransitionTime ? parseTime(condition.lastTransitionTime) : 0) + staleMs - nowMs);
}

/** Counts the healthy pods of PodDisruptionBudgets, which decides on evictions. Upstream: pkg/controller/disruption. */
@Controller({
  name: 'disruption-controller',
  component: 'controllermanager',
  for: budgets,
  ...asManager,
})
export class DisruptionController {
  readonly #budgets: SharedInformer<PodDisruptionBudget>;
  readonly #pods: SharedInformer<Pod>;
  readonly #scales: ControllerScales;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.#budgets = informers.for<PodDisruptionBudget>(budgets);
    this.#pods = informers.for<Pod>(pods);
    this.#scales = new ControllerScales(client, informers);
  }

  /** Reconciles the budgets that select the pod, or did before its labels changed. */
  @Watches(pods)
  *requestsOfPod(pod: Pod, old: Pod | undefined): Iterable<ReconcileRequest> {
    const namespace = pod.metadata.namespace as string;
    for (const { metadata, spec } of this.#budgets.list(namespace)) {
      const selector = selectorOf(spec?.selector);
      const isSelected = [pod, ...(old ? [old] : [])].some((state) => selector.matches(state.metadata.labels ?? {}));
      if (isSelected) yield { namespace, name: metadata.name as string };
    }
    if (staleInMs(pod, this.clock.wallTime()) !== undefined) yield { namespace, name: `${podPrefix}${pod.metadata.name}` };
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    if (name.startsWith(podPrefix)) return this.#resetStale(namespace, name.slice(podPrefix.length));
    const budget = this.#budgets.get(namespace, name);
    if (!budget) return {};
    try {
      const requeueAfterMs = await this.#sync(budget);
      return requeueAfterMs === undefined ? {} : { requeueAfterMs };
    } catch (error) {
      // The informer does not have the newest state yet.
      if (isConflict(error)) return { requeue: true };
      await this.#write(budget, failedStatus(budget, (error as Error).message, this.clock.wallTime()));
      return {};
    }
  }

  async #sync(budget: PodDisruptionBudget): Promise<number | undefined> {
    const { namespace } = budget.metadata;
    const selector = selectorOf(budget.spec?.selector);
    const selected = this.#pods.list(namespace).filter(({ metadata }) => selector.matches(metadata.labels ?? {}));
    if (selected.length === 0) this.recorder.event(budget, 'Normal', 'NoPods', 'No matching pods found');
    const expected = await this.#expected(budget, selected);
    const nowMs = this.clock.wallTime();
    const disrupted = disruptedPods(budget, selected, nowMs);
    for (const pod of selected.filter(({ metadata }) => disrupted.overdue.includes(metadata.name as string)))
      this.recorder.event(pod, 'Warning', 'NotDeleted', `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`);
    const counts = { healthy: healthyPods(selected, disrupted), desired: desiredHealthy(budget, expected), expected };
    const status = nextStatus(budget, counts, disrupted, nowMs);
    if (status) await this.#write(budget, status);
    return disrupted.recheckMs;
  }

  /** Returns the number of pods that should exist. */
  async #expected(budget: PodDisruptionBudget, selected: readonly Pod[]): Promise<number> {
    if (!needsScale(budget)) return selected.length;
    try {
      const { count, unmanaged } = await this.#scales.expected(selected);
      if (unmanaged.length > 0) {
        const message =
          `Pods selected by this PodDisruptionBudget (selector: ${formatSelector(budget.spec?.selector)}) were found to be unmanaged. ` +
          'As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. ' +
          'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.';
        this.recorder.event(budget, 'Warning', 'UnmanagedPods', message);
      }
      return count;
    } catch (error) {
      const message = `Failed to calculate the number of expected pods: ${(error as Error).message}`;
      this.recorder.event(budget, 'Warning', 'CalculateExpectedPodCountFailed', message);
      throw error;
    }
  }

  async #write(budget: PodDisruptionBudget, status: PodDisruptionBudgetStatus): Promise<void> {
    await this.client.replace({ ...budgets, subresource: 'status' }, { ...budget, status });
  }

  /** A pod whose eviction did not happen is not a target of a disruption any more. */
  async #resetStale(namespace: string, name: string): Promise<ReconcileResult> {
    const pod = this.#pods.get(namespace, name);
    const waitMs = pod && staleInMs(pod, this.clock.wallTime());
    if (!pod || waitMs === undefined) return {};
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    const { generation } = pod.metadata;
    const reset: PodCondition = {
      type: 'DisruptionTarget',
      status: 'False',
      lastTransitionTime: formatTime(this.clock.wallTime()),
      ...(generation !== undefined && { observedGeneration: generation }),
    };
    const conditions = (pod.status?.conditions ?? []).map((condition) => (condition.type === reset.type ? reset : condition));
    // The role grants no reading of single pods. A newer state conflicts, and is checked again.
    await this.client.replace({ ...pods, subresource: 'status' }, { ...pod, status: { ...pod.status, conditions } });
    return {};
  }
}
