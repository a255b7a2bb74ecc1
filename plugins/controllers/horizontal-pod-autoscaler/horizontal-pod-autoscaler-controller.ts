import {
  aborted,
  Clock,
  Controller,
  ControllerClient,
  deepEqual,
  EventRecorder,
  FeatureGates,
  inject,
  isConflict,
  type ReconcileRequest,
  type ReconcileResult,
  type SharedInformer,
  SharedInformers,
} from 'kubenest/sdk';
import type { HorizontalPodAutoscaler } from 'kubenest/types/autoscaling_v2';
import type { Pod } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';
import { pods } from '../common/pods.ts';
import { autoscalers, AutoscalerSync, ScalingError } from './autoscaler-sync.ts';
import type { ScalingHistory } from './scaling-limits.ts';
import { TargetSelectors } from './target-selectors.ts';

/** Time between reconciles. Upstream: --horizontal-pod-autoscaler-sync-period. */
const periodMs = 15_000;

/** Scales workloads by the usage of their pods. Upstream: pkg/controller/podautoscaler. */
@Controller({
  name: 'horizontal-pod-autoscaler-controller',
  serviceAccount: 'horizontal-pod-autoscaler',
  component: 'horizontal-pod-autoscaler',
  for: autoscalers,
  concurrency: 5,
  ...asManager,
})
export class HorizontalPodAutoscalerController {
  readonly #autoscalers: SharedInformer<HorizontalPodAutoscaler>;
  readonly #pods: SharedInformer<Pod>;
  /** Histories of recommendations, by the UID of the autoscaler. */
  readonly #histories = new Map<string, ScalingHistory>();
  readonly #targets = new TargetSelectors();
  /** Last reconcile of each autoscaler, by its UID. */
  readonly #reconciled = new Map<string, { readonly at: number; readonly spec: HorizontalPodAutoscaler['spec'] }>();

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(Clock) private readonly clock: Clock,
    @inject(FeatureGates) private readonly features: FeatureGates,
  ) {
    this.#autoscalers = informers.for<HorizontalPodAutoscaler>(autoscalers);
    this.#pods = informers.for<Pod>(pods);
  }

  async run(signal: AbortSignal): Promise<void> {
    using _subscription = this.#autoscalers.handle({
      deleted: (autoscaler) => {
        const { metadata } = autoscaler;
        this.#targets.forget(autoscaler);
        this.#histories.delete(metadata.uid as string);
        this.#reconciled.delete(metadata.uid as string);
      },
    });
    await aborted(signal);
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    const autoscaler = this.#autoscalers.get(namespace, name);
    if (!autoscaler) return {};
    const { metadata, spec } = autoscaler;
    const uid = metadata.uid as string;
    const now = this.clock.now();
    const last = this.#reconciled.get(uid);
    // A change of the status is not a reason to measure again.
    if (last && deepEqual(last.spec, spec) && now - last.at < periodMs) return { requeueAfterMs: last.at + periodMs - now };
    this.#reconciled.set(uid, { at: now, spec });
    const history = this.#histories.get(uid) ?? { recommendations: [], ups: [], downs: [] };
    this.#histories.set(uid, history);
    const parts = {
      client: this.client,
      recorder: this.recorder,
      pods: this.#pods,
      targets: this.#targets,
      scalesToZero: this.features.enabled('HPAScaleToZero'),
    };
    try {
      await new AutoscalerSync(parts, autoscaler, history, this.clock.wallTime()).run();
    } catch (error) {
      if (isConflict(error)) {
        // The informer does not have the newest state yet.
        this.#reconciled.delete(uid);
        return { requeue: true };
      }
      // Conditions and events report it, and the next period tries again.
      if (!(error instanceof ScalingError)) throw error;
    }
    return { requeueAfterMs: periodMs };
  }
}
