import {
  type ClientTarget,
  type ControllerClient,
  deepEqual,
  type EventRecorder,
  formatTime,
  Quantity,
  servedResources,
  type SharedInformer,
} from 'kubenest/sdk';
import type { Scale } from 'kubenest/types/autoscaling_v1';
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscalerStatus,
  MetricStatus,
} from 'kubenest/types/autoscaling_v2';
import type { Pod } from 'kubenest/types/core_v1';
import { MetricError, type MetricContext, podsOf, propose, type Proposed } from './metric-proposals.ts';
import type { Tolerances } from './replica-calculator.ts';
import type { TargetSelectors } from './target-selectors.ts';
import { limit, noteChange, type ScalingHistory } from './scaling-limits.ts';

export const autoscalers = {
  group: 'autoscaling',
  version: 'v2',
  resource: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
} as const;
const defaultTolerance = 0.1;
/** Status of a metric that could not be read. */
const noStatus: MetricStatus = { type: '' };
/** Condition that the controller scaled the target to zero. */
const scaledToZero = 'ScaledToZero';

export interface AutoscalerParts {
  readonly client: ControllerClient;
  readonly recorder: EventRecorder;
  readonly pods: SharedInformer<Pod>;
  /** Selectors of the targets of all autoscalers. */
  readonly targets: TargetSelectors;
  /** True if autoscalers may scale to zero: the gate HPAScaleToZero. */
  readonly scalesToZero: boolean;
}

/** Error of a reconcile that the conditions report. */
export class ScalingError extends Error {
  override readonly name = 'ScalingError';
}

/**
 * One reconcile of an autoscaler. Upstream: reconcileAutoscaler of pkg/controller/podautoscaler/horizontal.go.
 */
export class AutoscalerSync {
  readonly #status: HorizontalPodAutoscalerStatus;

  constructor(
    readonly parts: AutoscalerParts,
    readonly autoscaler: HorizontalPodAutoscaler,
    readonly history: ScalingHistory,
    readonly nowMs: number,
  ) {
    this.#status = { ...autoscaler.status, conditions: [...(autoscaler.status?.conditions ?? [])] };
  }

  /** Scales the target and writes the status, also after a failure. */
  async run(): Promise<void> {
    try {
      await this.#scale();
    } finally {
      await this.#write();
    }
  }

  get #namespace(): string {
    return this.autoscaler.metadata.namespace as string;
  }

  get #min(): number {
    return this.autoscaler.spec?.minReplicas ?? 1;
  }

  /** True if a metric can be measured while there are no pods. */
  get #hasMetricWithoutPods(): boolean {
    return (this.autoscaler.spec?.metrics ?? []).some(({ type }) => type === 'Object' || type === 'External');
  }

  #event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.parts.recorder.event(this.autoscaler, type, reason, message);
  }

  #condition(type: string, isTrue: boolean, reason: string, message: string): void {
    const conditions = this.#status.conditions as HorizontalPodAutoscalerCondition[];
    const at = conditions.findIndex((condition) => condition.type === type);
    const present = conditions[at];
    const status = isTrue ? 'True' : 'False';
    const lastTransitionTime = (present?.status === status && present.lastTransitionTime) || formatTime(this.nowMs);
    const condition = { type, status, lastTransitionTime, reason, message };
    if (present) conditions[at] = condition;
    else conditions.push(condition);
  }

  #isTrue(type: string): boolean {
    return this.#status.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
  }

  #removeCondition(type: string): void {
    this.#status.conditions = (this.#status.conditions ?? []).filter((condition) => condition.type !== type);
  }

  async #write(): Promise<void> {
    const { status } = this.autoscaler;
    const { observedGeneration: _, ...next } = this.#status;
    if (deepEqual(next, status ?? {})) return;
    try {
      await this.parts.client.replace({ ...autoscalers, subresource: 'status' }, { ...this.autoscaler, status: next });
    } catch (error) {
      const { message } = error as Error;
      this.#event('Warning', 'FailedUpdateStatus', message);
      throw error;
    }
  }

  async #scale(): Promise<void> {
    const { target, scale } = await this.#getScale();
    this.#condition('AbleToScale', true, 'SucceededGetScale', "the HPA controller was able to get the target's current scale");
    const current = scale.spec?.replicas ?? 0;
    this.#status.currentReplicas = current;
    if (this.history.recommendations.length === 0) this.history.recommendations.push({ replicas: current, at: this.nowMs });
    const { replicas, reason } = await this.#desired(scale, current);
    if (replicas !== current) await this.#resize(target, current, replicas, reason);
    this.#status.desiredReplicas = replicas;
  }

  async #getScale(): Promise<{ readonly target: ClientTarget; readonly scale: Scale }> {
    try {
      const { apiVersion = '', kind = '', name = '' } = this.autoscaler.spec?.scaleTargetRef ?? {};
      const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] as string) : '';
      const { resources } = await servedResources(this.parts.client);
      const served = resources.find((resource) => resource.group === group && resource.kind === kind);
      if (!served) throw new ScalingError(`no matches for kind "${kind}" in group "${group}"`);
      const target = { ...served, subresource: 'scale' };
      const scale = await this.parts.client.get(target, this.#namespace, name);
      if (!scale) throw new ScalingError(`${served.resource}${group && `.${group}`} "${name}" not found`);
      return { target, scale };
    } catch (error) {
      const { message } = error as Error;
      this.#event('Warning', 'FailedGetScale', message);
      this.#condition(
        'AbleToScale',
        false,
        'FailedGetScale',
        `the HPA controller was unable to get the target's current scale: ${message}`,
      );
      throw error;
    }
  }

  async #desired(scale: Scale, current: number): Promise<{ readonly replicas: number; readonly reason: string }> {
    const { maxReplicas: max = 0, behavior } = this.autoscaler.spec ?? {};
    const isScaledToZero = this.parts.scalesToZero && this.#isTrue(scaledToZero);
    if (current === 0 && !(isScaledToZero && (this.#min !== 0 || this.#hasMetricWithoutPods))) {
      this.#condition('ScalingActive', false, 'ScalingDisabled', 'scaling is disabled since the replica count of the target is zero');
      if (!this.parts.scalesToZero) this.#removeCondition(scaledToZero);
      return { replicas: 0, reason: '' };
    }
    if (current > max) return { replicas: max, reason: 'Current number of replicas above Spec.MaxReplicas' };
    if (current !== 0 && current < this.#min) return { replicas: this.#min, reason: 'Current number of replicas below Spec.MinReplicas' };
    const { replicas: desired, metric } = await this.#propose(scale, current);
    const direction = desired < current ? 'All metrics below target' : '';
    const reason = desired > current ? `${metric} above target` : direction;
    const { replicas, able, limited } = limit({ current, desired, min: this.#min, max, behavior }, this.history, this.nowMs);
    this.#condition('AbleToScale', true, able.reason, able.message);
    this.#condition('ScalingLimited', limited.isLimited, limited.reason, limited.message);
    if (current === 0 && replicas < this.#min)
      return { replicas: this.#min, reason: reason || 'Current number of replicas below Spec.MinReplicas' };
    return { replicas, reason };
  }

  /** Returns the highest proposal of the metrics. A failed metric prevents scaling down. Upstream: computeReplicasForMetrics. */
  async #propose(scale: Scale, current: number): Promise<{ readonly replicas: number; readonly metric: string }> {
    const metrics = this.autoscaler.spec?.metrics ?? [];
    const context = this.#contextOf(scale, current, this.#selectorOf(scale));
    const proposals: Proposed[] = [];
    const statuses: MetricStatus[] = [];
    const failures: { readonly reason: string; readonly error: MetricError }[] = [];
    for (const metric of metrics) {
      try {
        const proposed = await propose(metric, context);
        proposals.push(proposed);
        statuses.push(proposed.status);
      } catch (error) {
        if (!(error instanceof MetricError)) throw error;
        const reason = `FailedGet${metric.type}Metric`;
        this.#event('Warning', reason, error.message);
        failures.push({ reason, error });
        statuses.push(noStatus);
      }
    }
    this.#status.currentMetrics = statuses;
    const best = proposals.reduce<Proposed | undefined>((top, next) => (!top || next.replicas > top.replicas ? next : top), undefined);
    const [failure] = failures;
    if (failure && (!best || best.replicas < current)) {
      this.#condition('ScalingActive', false, failure.reason, `the HPA was unable to compute the replica count: ${failure.error.message}`);
      const message = `invalid metrics (${failures.length} invalid out of ${metrics.length}), first error is: ${failure.error.whole}`;
      this.#event('Warning', 'FailedComputeMetricsReplicas', message);
      throw new ScalingError(message);
    }
    const { replicas = 0, metric = '' } = best ?? {};
    const message = `the HPA was able to successfully calculate a replica count from ${metric}`;
    this.#condition('ScalingActive', true, 'ValidMetricFound', message);
    return { replicas, metric };
  }

  #contextOf(scale: Scale, current: number, selector: string): MetricContext {
    return {
      client: this.parts.client,
      namespace: this.#namespace,
      selector,
      pods: podsOf(this.parts.pods.list(this.#namespace), selector),
      specReplicas: current,
      statusReplicas: scale.status?.replicas ?? 0,
      tolerances: this.#tolerances(),
      nowMs: this.nowMs,
    };
  }

  #selectorOf({ status }: Scale): string {
    const selector = status?.selector;
    if (selector) {
      const others = this.parts.targets.sharing(this.autoscaler, selector, this.parts.pods.list(this.#namespace));
      if (others.length === 1) return selector;
      const message = `pods by selector ${selector} are controlled by multiple HPAs: [${others.join(' ')}]`;
      this.#event('Warning', 'AmbiguousSelector', message);
      this.#condition('ScalingActive', false, 'AmbiguousSelector', message);
      return this.#fail(message);
    }
    this.#event('Warning', 'SelectorRequired', 'selector is required');
    this.#condition('ScalingActive', false, 'InvalidSelector', "the HPA target's scale is missing a selector");
    return this.#fail('selector is required');
  }

  /** Ends the reconcile when the pods of the target cannot be measured for this autoscaler. */
  #fail(message: string): never {
    delete this.#status.currentMetrics;
    this.#event('Warning', 'FailedComputeMetricsReplicas', message);
    throw new ScalingError(message);
  }

  #tolerances(): Tolerances {
    const { scaleUp, scaleDown } = this.autoscaler.spec?.behavior ?? {};
    const share = (text: string | undefined): number => (text === undefined ? defaultTolerance : Quantity.parse(text).toNumber());
    return { up: share(scaleUp?.tolerance), down: share(scaleDown?.tolerance) };
  }

  async #resize(target: ClientTarget, current: number, replicas: number, reason: string): Promise<void> {
    const { spec } = this.autoscaler;
    try {
      await this.parts.client.update<Scale>(target, this.#namespace, spec?.scaleTargetRef?.name as string, (scale) => ({
        ...scale,
        spec: { ...scale.spec, replicas },
      }));
    } catch (error) {
      const { message } = error as Error;
      this.#event('Warning', 'FailedRescale', `New size: ${replicas}; reason: ${reason}; error: ${message}`);
      this.#condition('AbleToScale', false, 'FailedUpdateScale', `the HPA controller was unable to update the target scale: ${message}`);
      throw error;
    }
    this.#condition('AbleToScale', true, 'SucceededRescale', `the HPA controller was able to update the target scale to ${replicas}`);
    this.#event('Normal', 'SuccessfulRescale', `New size: ${replicas}; reason: ${reason}`);
    this.#noteZero(current, replicas);
    noteChange(spec?.behavior, this.history, replicas - current, this.nowMs);
    this.#status.lastScaleTime = formatTime(this.nowMs);
  }

  /** Records whether the controller itself scaled to zero, from where only it may scale up again. */
  #noteZero(current: number, replicas: number): void {
    if (!this.parts.scalesToZero) return this.#removeCondition(scaledToZero);
    if (current > 0 && replicas === 0 && this.#min === 0 && this.#hasMetricWithoutPods)
      this.#condition(scaledToZero, true, 'ScaledToZero', 'the HPA controller scaled the workload to zero');
    else this.#condition(scaledToZero, false, 'NotScaledToZero', 'the HPA controller did not scale the workload to zero');
  }
}
