import {
  type ClientTarget,
  type ControllerClient,
  deepEqual,
  type EventRecorder,
  formatTime,
  type KubeObject,
  parseSelector,
  Quantity,
  servedResources,
  type SharedInformer,
} from 'kubenest/sdk';
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscalerStatus,
  MetricSpec,
  MetricStatus,
  MetricTarget,
} from 'kubenest/types/autoscaling_v2';
import type { Pod } from 'kubenest/types/core_v1';
import { podUsages } from './pod-metrics.ts';
import { replicasForUsage, replicasForUtilization, type Tolerances } from './replica-calculator.ts';
import { limit, noteChange, type ScalingHistory } from './scaling-limits.ts';

export const autoscalers = {
  group: 'autoscaling',
  version: 'v2',
  resource: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
} as const;
const defaultTolerance = 0.1;

/** Upstream: autoscaling/v1 Scale. */
interface Scale extends KubeObject {
  spec?: { replicas?: number };
  status?: { replicas?: number; selector?: string };
}

interface Proposed {
  readonly replicas: number;
  /** Name of the metric in messages. */
  readonly metric: string;
  readonly status: MetricStatus;
}

export interface AutoscalerParts {
  readonly client: ControllerClient;
  readonly recorder: EventRecorder;
  readonly pods: SharedInformer<Pod>;
}

/** Error of a reconcile that the conditions report. */
export class ScalingError extends Error {
  override readonly name = 'ScalingError';
}

/**
 * One reconcile of an autoscaler with resource metrics. Metrics of the custom and external metrics APIs are reported as not available.
 * Upstream: reconcileAutoscaler of pkg/controller/podautoscaler/horizontal.go.
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
    if (current === 0 && this.#min !== 0) {
      this.#condition('ScalingActive', false, 'ScalingDisabled', 'scaling is disabled since the replica count of the target is zero');
      return { replicas: 0, reason: '' };
    }
    if (current > max) return { replicas: max, reason: 'Current number of replicas above Spec.MaxReplicas' };
    if (current < this.#min) return { replicas: this.#min, reason: 'Current number of replicas below Spec.MinReplicas' };
    const { replicas: desired, metric } = await this.#propose(scale, current);
    const reason = desired > current ? `${metric} above target` : 'All metrics below target';
    const { replicas, able, limited } = limit({ current, desired, min: this.#min, max, behavior }, this.history, this.nowMs);
    this.#condition('AbleToScale', true, able.reason, able.message);
    this.#condition('ScalingLimited', limited.isLimited, limited.reason, limited.message);
    return { replicas, reason };
  }

  /** Returns the highest proposal of the metrics. A failed metric prevents scaling down. Upstream: computeReplicasForMetrics. */
  async #propose(scale: Scale, current: number): Promise<{ readonly replicas: number; readonly metric: string }> {
    const metrics = this.autoscaler.spec?.metrics ?? [];
    const selector = this.#selectorOf(scale);
    const proposals: Proposed[] = [];
    const failures: { readonly reason: string; readonly error: Error }[] = [];
    for (const metric of metrics) {
      try {
        proposals.push(await this.#proposeFor(metric, selector, current));
      } catch (error) {
        const reason = `FailedGet${metric.type}Metric`;
        this.#event('Warning', reason, (error as Error).message);
        failures.push({ reason, error: error as Error });
      }
    }
    this.#status.currentMetrics = proposals.map(({ status }) => status);
    const best = proposals.reduce<Proposed | undefined>((top, next) => (!top || next.replicas > top.replicas ? next : top), undefined);
    const [failure] = failures;
    if (failure && (!best || best.replicas < current)) {
      this.#condition('ScalingActive', false, failure.reason, `the HPA was unable to compute the replica count: ${failure.error.message}`);
      const message = `invalid metrics (${failures.length} invalid out of ${metrics.length}), first error is: ${failure.error.message}`;
      this.#event('Warning', 'FailedComputeMetricsReplicas', message);
      throw new ScalingError(message);
    }
    const { replicas = 0, metric = '' } = best ?? {};
    const message = `the HPA was able to successfully calculate a replica count from ${metric}`;
    this.#condition('ScalingActive', true, 'ValidMetricFound', message);
    return { replicas, metric };
  }

  #selectorOf({ status }: Scale): string {
    if (status?.selector) return status.selector;
    this.#event('Warning', 'SelectorRequired', 'selector is required');
    this.#condition('ScalingActive', false, 'InvalidSelector', "the HPA target's scale is missing a selector");
    throw new ScalingError('selector is required');
  }

  async #proposeFor({ type, resource, containerResource }: MetricSpec, selector: string, current: number): Promise<Proposed> {
    if (type === 'Resource' && resource) {
      const { name = '', target = {} } = resource;
      const { value, ...proposed } = await this.#proposeForResource(name, '', target, selector, current);
      return { ...proposed, status: { type, resource: { name, current: value } } };
    }
    if (type === 'ContainerResource' && containerResource) {
      const { name = '', container = '', target = {} } = containerResource;
      const { value, ...proposed } = await this.#proposeForResource(name, container, target, selector, current);
      return { ...proposed, status: { type, containerResource: { name, container, current: value } } };
    }
    const api = type === 'External' ? 'external' : 'custom';
    throw new ScalingError(`no ${api} metrics API (${api}.metrics.k8s.io) registered`);
  }

  async #proposeForResource(
    resource: string,
    container: string,
    { averageValue, averageUtilization }: MetricTarget,
    selector: string,
    currentReplicas: number,
  ): Promise<Omit<Proposed, 'status'> & { readonly value: { averageUtilization?: number; averageValue: string } }> {
    const failed = (error: unknown): never => {
      const what = averageValue === undefined ? 'utilization' : 'usage';
      throw new ScalingError(`failed to get ${resource} ${what}: ${(error as Error).message}`, { cause: error });
    };
    const unavailable = (error: Error): never => failed(new Error(`unable to get metrics for resource ${resource}: ${error.message}`));
    const usages = await podUsages(this.parts.client, this.#namespace, selector, resource, container).catch(unavailable);
    try {
      const matcher = parseSelector(selector);
      const pods = this.parts.pods.list(this.#namespace).filter(({ metadata }) => matcher.matches(metadata.labels ?? {}));
      if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count');
      const input = { resource, container, currentReplicas, pods, usages, tolerances: this.#tolerances(), nowMs: this.nowMs };
      const { replicas, averageMilli, utilization } =
        averageValue === undefined
          ? replicasForUtilization(input, averageUtilization ?? 0)
          : replicasForUsage(input, Number(Quantity.parse(averageValue).milliValue()));
      const format = resource === 'memory' ? 'BinarySI' : 'DecimalSI';
      const value = {
        averageValue: Quantity.fromMilli(averageMilli, format).toString(),
        ...(utilization !== undefined && { averageUtilization: utilization }),
      };
      const kind = container === '' ? 'resource' : 'container resource';
      const metric = averageValue === undefined ? `${resource} ${kind} utilization (percentage of request)` : `${resource} resource`;
      return { replicas, metric, value };
    } catch (error) {
      return failed(error);
    }
  }

  #tolerances(): Tolerances {
    const { scaleUp, scaleDown } = this.autoscaler.spec?.behavior ?? {};
    const share = (text: string | undefined): number => (text === undefined ? defaultTolerance : Quantity.parse(text).toNumber());
    return { up: share(scaleUp?.tolerance), down: share(scaleDown?.tolerance) };
  }

  async #resize(target: ClientTarget, current: number, replicas: number, reason: string): Promise<void> {
    const { spec } = this.autoscaler;
    try {
      await this.parts.client.update(target, this.#namespace, spec?.scaleTargetRef?.name as string, (scale) => ({
        ...scale,
        spec: { ...(scale as Scale).spec, replicas },
      }));
    } catch (error) {
      const { message } = error as Error;
      this.#event('Warning', 'FailedRescale', `New size: ${replicas}; reason: ${reason}; error: ${message}`);
      this.#condition('AbleToScale', false, 'FailedUpdateScale', `the HPA controller was unable to update the target scale: ${message}`);
      throw error;
    }
    this.#condition('AbleToScale', true, 'SucceededRescale', `the HPA controller was able to update the target scale to ${replicas}`);
    this.#event('Normal', 'SuccessfulRescale', `New size: ${replicas}; reason: ${reason}`);
    noteChange(spec?.behavior, this.history, replicas - current, this.nowMs);
    this.#status.lastScaleTime = formatTime(this.nowMs);
  }
}
