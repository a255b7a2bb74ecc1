import {
  Clock,
  Controller,
  ControllerClient,
  deepEqual,
  EventRecorder,
  FeatureGates,
  formatTime,
  inject,
  isNotFound,
  type KubeObject,
  type ReconcileRequest,
  type ReconcileResult,
  RequestQueue,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import type { ResourceClaim, ResourceSlice } from 'kubenest/types/resource_v1';
import type { DeviceTaintRule } from 'kubenest/types/resource_v1alpha3';
import { matchesDevice } from '../../common/device-taint-rules.ts';
import { asManager } from '../common/as-manager.ts';
import { patchPodStatus } from '../common/patch-pod-status.ts';
import { podKind } from '../common/pods.ts';
import { type DeviceState, devicesOf, evictionOfPod } from './device-evictions.ts';
import { ruleCondition } from './rule-condition.ts';

const name = 'device-taint-eviction-controller';
const claims = { group: 'resource.k8s.io', resource: 'resourceclaims' };
const slices = { group: 'resource.k8s.io', resource: 'resourceslices' };
const rules = { group: 'resource.k8s.io', version: 'v1beta2', resource: 'devicetaintrules' };
/** Indexes of claims and slices by `driver/pool`. */
const byPool = 'pool';
/** Shortest time between two updates of the condition of a rule. */
const rulePeriodMs = 10_000;

/**
 * Deletes pods whose claims have devices with a taint of the effect NoExecute that the claims do not tolerate, and reports the progress in
 * the DeviceTaintRules that added such taints. A request without a namespace is a rule. Upstream: pkg/controller/devicetainteviction.
 */
@Controller({
  name,
  component: name,
  featureGate: 'DRADeviceTaints',
  for: podKind,
  filter: isRelevant,
  concurrency: 8,
  rules: [{ apiGroups: ['resource.k8s.io'], resources: ['devicetaintrules/status'], verbs: ['patch', 'update'] }],
  ...asManager,
})
export class DeviceTaintEvictionController {
  readonly #pods: SharedInformer<Pod>;
  readonly #claims: SharedInformer<ResourceClaim>;
  readonly #slices: SharedInformer<ResourceSlice>;
  /** Undefined without the feature, which is off by default. */
  readonly #rules: SharedInformer<DeviceTaintRule> | undefined;
  /** UIDs of pods that are to be evicted, by key. */
  readonly #planned = new Map<string, string | undefined>();
  /** Number of pods evicted because of a rule, by the UID of the rule. */
  readonly #evicted = new Map<string, number>();
  /** Names of the rules whose report is due. */
  readonly #due = new Set<string>();
  readonly #state: DeviceState;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(RequestQueue) private readonly requests: RequestQueue,
    @inject(Clock) private readonly clock: Clock,
    @inject(FeatureGates) features: FeatureGates,
  ) {
    this.#pods = informers.for(podKind);
    this.#claims = informers.for<ResourceClaim>(claims);
    this.#slices = informers.for<ResourceSlice>(slices);
    this.#rules = features.enabled('DRADeviceTaintRules') ? informers.for<DeviceTaintRule>(rules) : undefined;
    this.#claims.addIndex(byPool, ({ status }) => [
      ...new Set((status?.allocation?.devices?.results ?? []).map(({ driver, pool }) => `${driver}/${pool}`)),
    ]);
    this.#slices.addIndex(byPool, (slice) => [poolOf(slice)]);
    this.#state = this.#stateWith(() => (this.#rules?.list() ?? []).filter(({ spec }) => spec?.taint?.effect === 'NoExecute'));
  }

  /** Follows the rules, as long as the controller runs. */
  async run(signal: AbortSignal): Promise<void> {
    if (!this.#rules) return;
    using _subscription = this.#rules.handle({
      added: (rule) => this.#ruleChanged(rule),
      updated: (rule, old) => {
        if (!deepEqual(rule.spec, old.spec)) this.#ruleChanged(rule, old);
      },
      deleted: (rule) => {
        this.#evicted.delete(rule.metadata.uid ?? '');
        this.#ruleChanged(rule);
      },
    });
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }

  @Watches(claims)
  *requestsOfClaim({ metadata, status }: ResourceClaim): Iterable<ReconcileRequest> {
    for (const { apiGroup, resource, name: pod = '' } of status?.reservedFor ?? [])
      if (!apiGroup && resource === 'pods') yield { namespace: metadata.namespace ?? '', name: pod };
  }

  @Watches(slices)
  *requestsOfSlice(slice: ResourceSlice, old: ResourceSlice | undefined): Iterable<ReconcileRequest> {
    if (old && deepEqual(slice.spec, old.spec)) return;
    for (const pool of new Set([slice, old].flatMap((one) => (one ? [poolOf(one)] : []))))
      for (const claim of this.#claims.byIndex(byPool, pool)) yield* this.requestsOfClaim(claim);
  }

  async reconcile({ namespace, name: object }: ReconcileRequest): Promise<ReconcileResult> {
    return namespace === '' ? this.#reportRule(object) : this.#reconcilePod(namespace, object);
  }

  #ruleChanged(rule: DeviceTaintRule, old: DeviceTaintRule = rule): void {
    this.requests.add({ namespace: '', name: rule.metadata.name ?? '' });
    const affected = this.#claims.list().filter((claim) => isSelected(claim, rule) || isSelected(claim, old));
    for (const claim of affected) for (const request of this.requestsOfClaim(claim)) this.requests.add(request);
  }

  async #reconcilePod(namespace: string, object: string): Promise<ReconcileResult> {
    const key = `${namespace}/${object}`;
    const pod = this.#pods.get(namespace, object);
    if (this.#planned.get(key) !== pod?.metadata.uid) this.#planned.delete(key);
    const eviction = pod && evictionOfPod(pod, this.#state);
    if (!pod || !eviction) {
      if (this.#planned.delete(key) && pod) this.recorder.event(pod, 'Normal', 'DeviceTaintManagerEviction', 'Cancelling deletion');
      return {};
    }
    for (const rule of eviction.rules) this.#reportLater(rule);
    const waitMs = eviction.dueMs - this.clock.wallTime();
    if (waitMs > 0) {
      this.#planned.set(key, pod.metadata.uid);
      return { requeueAfterMs: waitMs };
    }
    if (pod.metadata.deletionTimestamp) return {};
    if (await this.#evict(pod))
      for (const { metadata } of eviction.rules) {
        const uid = metadata.uid ?? '';
        this.#evicted.set(uid, (this.#evicted.get(uid) ?? 0) + 1);
      }
    this.#planned.delete(key);
    return {};
  }

  /** Returns false if the pod is gone. */
  async #evict(pod: Pod): Promise<boolean> {
    this.recorder.event(pod, 'Normal', 'DeviceTaintManagerEviction', 'Marking for deletion');
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByDeviceTaintManager',
      message: 'Device Taint manager: deleting due to NoExecute taint',
      lastTransitionTime: formatTime(this.clock.wallTime()),
    };
    if (!(await patchPodStatus(this.client, pod, condition))) return false;
    const { namespace = '', name: podName = '', uid } = pod.metadata;
    try {
      return await this.client.remove(podKind, namespace, podName, { preconditions: { uid } });
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** Reports a rule after a while: once, however many of its pods are evicted meanwhile. */
  #reportLater({ metadata: { name: rule = '' } }: DeviceTaintRule): void {
    if (this.#due.has(rule)) return;
    this.#due.add(rule);
    this.clock.after(rulePeriodMs, () => {
      this.#due.delete(rule);
      this.requests.add({ namespace: '', name: rule });
    });
  }

  async #reportRule(ruleName: string): Promise<ReconcileResult> {
    const rule = this.#rules?.get('', ruleName);
    if (!rule) return {};
    const { name: _, uid, generation: observedGeneration } = rule.metadata;
    const present = rule.status?.conditions?.find(({ type }) => type === 'EvictionInProgress');
    const now = this.clock.wallTime();
    const sinceMs = now - Date.parse(present?.lastTransitionTime ?? '');
    if (present?.observedGeneration === observedGeneration && sinceMs < rulePeriodMs) return { requeueAfterMs: rulePeriodMs - sinceMs };
    const condition = { ...ruleCondition(rule, this.#countsOf(rule)), observedGeneration };
    if (present && Object.entries(condition).every(([key, value]) => (present as Record<string, unknown>)[key] === value)) return {};
    const applied = {
      apiVersion: 'resource.k8s.io/v1beta2',
      kind: 'DeviceTaintRule',
      metadata: { name: ruleName, uid },
      status: { conditions: [{ ...condition, lastTransitionTime: formatTime(now) }] },
    };
    await this.client.apply({ ...rules, subresource: 'status' }, applied as KubeObject, { force: true, fieldManager: name });
    return {};
  }

  #countsOf(rule: DeviceTaintRule): Parameters<typeof ruleCondition>[1] {
    const evicted = this.#evicted.get(rule.metadata.uid ?? '') ?? 0;
    const effect = rule.spec?.taint?.effect;
    if (effect !== 'NoExecute' && effect !== 'None') return { pods: 0, namespaces: 0, published: 0, allocated: 0, evicted };
    // A rule without effect reports what it would do.
    const state = this.#stateWith(() => [rule]);
    const affected = this.#pods.list().filter((pod) => !pod.metadata.deletionTimestamp && evictionOfPod(pod, state)?.rules.has(rule));
    const places = [...Map.groupBy(this.#slices.list(), poolOf)].flatMap(([, ofPool]) =>
      devicesOf(ofPool).map(({ name: device }) => ({ ...ofPool[0]?.spec, pool: ofPool[0]?.spec?.pool?.name, device })),
    );
    const results = this.#claims.list().flatMap(({ status }) => status?.allocation?.devices?.results ?? []);
    const selected = (devices: readonly object[]): number => devices.filter((device) => matchesDevice(rule, device)).length;
    return {
      pods: affected.length,
      namespaces: new Set(affected.map(({ metadata }) => metadata.namespace)).size,
      published: selected(places),
      allocated: selected(results),
      evicted,
    };
  }

  #stateWith(evicting: () => readonly DeviceTaintRule[]): DeviceState {
    return {
      claim: (namespace, claim) => this.#claims.get(namespace, claim),
      slices: (driver, pool) => this.#slices.byIndex(byPool, `${driver}/${pool}`),
      rules: evicting,
    };
  }
}

const poolOf = ({ spec }: ResourceSlice): string => `${spec?.driver}/${spec?.pool?.name}`;

function isSelected({ status }: ResourceClaim, rule: DeviceTaintRule): boolean {
  return (status?.allocation?.devices?.results ?? []).some((device) => matchesDevice(rule, device));
}

/** True for pods that come and go, get a node or get claims. */
function isRelevant({ spec, status }: Pod, old: Pod | undefined): boolean {
  return !old || spec?.nodeName !== old.spec?.nodeName || !deepEqual(status?.resourceClaimStatuses, old.status?.resourceClaimStatuses);
}
