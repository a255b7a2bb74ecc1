import {
  aborted,
  Controller,
  ControllerClient,
  deepEqual,
  type GroupResource,
  Informers,
  inject,
  type KubeObject,
  type ReconcileRequest,
  type ReconcileResult,
  RequestQueue,
  type SharedInformer,
  SharedInformers,
} from 'kubenest/sdk';
import { inSteps } from '#sdk/internal';
import { amountsOf } from '../../common/pod-resources.ts';
import { type QuotaEvaluator, type ResourceQuotaObject, type ScopeRequirement, scopesOf } from '../../common/quota/evaluator.ts';
import { areEqual, mask, type QuotaAmounts } from '../../common/quota/quota-amounts.ts';
import { QuotaEvaluators } from '../../common/quota/quota-evaluators.ts';
import { asManager } from '../common/as-manager.ts';
import { usageOf } from './quota-usage.ts';

const quotas = { group: '', version: 'v1', resource: 'resourcequotas', kind: 'ResourceQuota' } as const;
/** Interval of the recalculation of an unchanged quota. Upstream: --resource-quota-sync-period. */
const resyncMs = 300_000;
/** Delay of the second count of a new quota, which includes objects that were admitted before the quota had a status. */
const settleMs = 200;

/**
 * Keeps the usage in the status of quotas: the admission plugin adds to it, and this controller counts again when objects are deleted or
 * change. It watches the resources that a quota limits. Upstream: pkg/controller/resourcequota.
 */
@Controller({
  name: 'resourcequota-controller',
  for: quotas,
  // The admission plugin changes the status before the object that it charges for is stored.
  filter: (quota, old) => !deepEqual(quota['spec'], old?.['spec']),
  concurrency: 5,
  ...asManager,
})
export class ResourceQuotaController {
  readonly #quotas: SharedInformer<ResourceQuotaObject>;
  readonly #evaluators: QuotaEvaluators;
  /** Quotas whose second count is due. */
  readonly #settling = new Set<string>();
  readonly #watches = new Map<string, Disposable>();

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(RequestQueue) private readonly requests: RequestQueue,
    @inject(Informers) private readonly informers: Informers,
    @inject(SharedInformers) private readonly shared: SharedInformers,
  ) {
    this.#quotas = shared.for<ResourceQuotaObject>(quotas);
    this.#evaluators = new QuotaEvaluators(informers);
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    const quota = this.#quotas.get(namespace, name);
    if (!quota) return {};
    const usage = await inSteps(usageOf(quota, this.#evaluators, (resource) => this.#objectsOf(resource, namespace)));
    const hard = amountsOf(quota.spec?.hard);
    const key = `${namespace}/${name}`;
    const counted = this.#settling.delete(key) ? highest(usage, amountsOf(quota.status?.used)) : usage;
    const used = mask(new Map([...amountsOf(quota.status?.used), ...counted]), hard);
    const isKnown = quota.status?.hard !== undefined && quota.status.used !== undefined;
    if (!isKnown || !areEqual(hard, amountsOf(quota.status?.hard)) || !areEqual(used, amountsOf(quota.status?.used))) {
      const status = { hard: listOf(hard), used: listOf(used) };
      await this.client.replace({ ...quotas, subresource: 'status' }, { ...quota, status });
    }
    if (isKnown) return { requeueAfterMs: resyncMs };
    this.#settling.add(key);
    return { requeueAfterMs: settleMs };
  }

  /** Ends the watches of resources when the controller ends. */
  async run(signal: AbortSignal): Promise<void> {
    await aborted(signal);
    for (const watch of this.#watches.values()) watch[Symbol.dispose]();
  }

  /** Returns the objects of a resource, and watches it from now on; undefined if this server does not store it. */
  #objectsOf(resource: GroupResource, namespace: string): readonly KubeObject[] | undefined {
    try {
      const objects = this.informers.for(resource).list(namespace);
      const key = `${resource.group}/${resource.resource}`;
      if (!this.#watches.has(key)) this.#watches.set(key, this.#watch(resource));
      return objects;
    } catch {
      return undefined;
    }
  }

  /**
   * Counts again when objects are deleted or their usage changes. New objects are counted by the admission plugin: a count while one of
   * them is admitted, but not stored yet, would miss it. Upstream: pkg/quota/v1/install/update_filter.go.
   */
  #watch(resource: GroupResource): Disposable {
    const evaluator = this.#evaluators.of(resource);
    return this.shared.for(resource).handle({
      updated: (object, old) => {
        const isSame = areEqual(evaluator.usage(object), evaluator.usage(old));
        this.#countIn(object, (quota) => !isSame || scopesOf(quota).some((scope) => changes(evaluator, scope, object, old)));
      },
      deleted: (object) => this.#countIn(object, () => true),
    });
  }

  #countIn({ metadata: { namespace = '' } }: KubeObject, isAffected: (quota: ResourceQuotaObject) => boolean): void {
    for (const quota of this.#quotas.list(namespace))
      if (isAffected(quota)) this.requests.add({ namespace, name: quota.metadata.name as string });
  }
}

function changes(evaluator: QuotaEvaluator, scope: ScopeRequirement, object: KubeObject, old: KubeObject): boolean {
  return evaluator.matchesScope(scope, object) !== evaluator.matchesScope(scope, old);
}

/** Returns the larger amount of each name: the admission plugin may have charged for objects that are not stored yet. */
function highest(counted: QuotaAmounts, charged: QuotaAmounts): QuotaAmounts {
  return new Map([...counted].map(([name, amount]) => [name, (charged.get(name)?.compare(amount) ?? 0) > 0 ? charged.get(name)! : amount]));
}

function listOf(amounts: QuotaAmounts): Record<string, string> {
  return Object.fromEntries([...amounts].map(([name, quantity]) => [name, String(quantity)]));
}
