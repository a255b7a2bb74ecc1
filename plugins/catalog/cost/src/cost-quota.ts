import { AdmissionPlugin, annotationOf, type Attributes, Clock, Configuration, deny, type Informer, Informers, inject } from 'kubenest/sdk';
import { ConfigurationError, IsArray, IsNumber, IsObject, Min, Type, ValidateNested } from 'kubenest/sdk/configuration';
import { IsOptionalText, IsSomeTexts } from '../../common/configuration.ts';
import { type Matcher, matcherOf } from '../../common/patterns.ts';
import { NamespaceCosts } from './namespace-costs.ts';
import { costOf, type Prices } from './prices.ts';

export class Budget {
  /** Namespaces that have this budget each. */
  @IsSomeTexts()
  namespaces: string[] = [];
  /** Amount in the currency and for the period of the prices. */
  @IsNumber()
  @Min(0)
  amount = 0;
}
export class CostQuotaConfiguration {
  /** Prices of a core, of a GiB of memory or storage, and of one piece of other resources: `{ cpu: 25, memory: 3, storage/fast: 0.3 }`. */
  @IsObject()
  prices: Record<string, number> = {};
  /** The first budget that fits a namespace applies; a namespace without one is not limited. */
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => Budget)
  budgets: Budget[] = [];
  /** Annotation of namespaces with a budget, which replaces those above. */
  @IsOptionalText()
  annotation?: string;
}

/**
 * Denies pods and claims that a namespace cannot pay. The cost is that of the requests of its pods and of its claims, by events of the
 * server's cache. Requests at the same time on several servers may exceed the budget together, since nothing is reserved in the store.
 */
@AdmissionPlugin({
  name: 'CostQuota',
  configuration: CostQuotaConfiguration,
  match: [
    { groups: [''], resources: ['pods'], operations: ['CREATE'] },
    { groups: [''], resources: ['pods'], subresources: ['resize'], operations: ['UPDATE'] },
    { groups: [''], resources: ['persistentvolumeclaims'], operations: ['CREATE', 'UPDATE'] },
  ],
})
export class CostQuota implements Disposable {
  readonly #namespaces: Informer;
  readonly #pods: NamespaceCosts;
  readonly #claims: NamespaceCosts;
  readonly #prices: Prices;
  readonly #budgets: readonly { readonly fits: Matcher; readonly amount: number }[];
  readonly #annotation: string | undefined;

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Configuration) { prices, budgets, annotation }: CostQuotaConfiguration,
    @inject(Clock) clock: Clock,
  ) {
    const wrong = Object.entries(prices).filter(([, price]) => typeof price !== 'number' || !(price >= 0));
    if (wrong.length > 0) throw new ConfigurationError(wrong.map(([name]) => `CostQuota.prices.${name}: must be a number of at least 0`));
    this.#prices = new Map(Object.entries(prices));
    this.#budgets = budgets.map(({ namespaces, amount }) => ({ fits: matcherOf(namespaces), amount }));
    this.#annotation = annotation;
    this.#namespaces = informers.for({ group: '', resource: 'namespaces' });
    const costs = (resource: string): NamespaceCosts =>
      new NamespaceCosts(informers.for({ group: '', resource }), (object) => costOf(object, this.#prices), clock);
    this.#pods = costs('pods');
    this.#claims = costs('persistentvolumeclaims');
  }

  /** Returns a promise only at the start, until the costs of all objects are known. */
  validate(request: Attributes): void | Promise<void> {
    if (this.#pods.isSynced && this.#claims.isSynced) return this.#check(request);
    return Promise.all([this.#pods.synced, this.#claims.synced]).then(() => this.#check(request));
  }

  [Symbol.dispose](): void {
    this.#pods[Symbol.dispose]();
    this.#claims[Symbol.dispose]();
  }

  #check(request: Attributes): void {
    const { object, oldObject, namespace, name, resource } = request;
    const budget = this.#budgetOf(namespace);
    if (budget === undefined) return;
    const costs = resource.resource === 'pods' ? this.#pods : this.#claims;
    // A scan creates objects that exist: they count once, and are denied if the namespace costs too much already.
    const before = oldObject ? costOf(oldObject, this.#prices) : (costs.get(namespace, name) ?? 0);
    const cost = costOf(object, this.#prices) - before;
    if (cost <= 0 && !request.verdicts) return;
    if (this.#sum(namespace) + cost > budget) {
      for (const all of [this.#pods, this.#claims]) all.recount(namespace);
      const total = this.#sum(namespace) + cost;
      if (total > budget)
        deny(
          request,
          `namespace ${namespace} would cost ${total.toFixed(2)}, its budget is ${budget.toFixed(2)} (${cost.toFixed(2)} for this request)`,
        );
    }
    if (!request.dryRun) costs.reserve(namespace, name, cost);
  }

  #sum(namespace: string): number {
    return this.#pods.sum(namespace) + this.#claims.sum(namespace);
  }

  #budgetOf(namespace: string): number | undefined {
    const object = this.#annotation === undefined ? undefined : this.#namespaces.get('', namespace);
    const annotated = object && this.#annotation !== undefined ? annotationOf(object, this.#annotation) : undefined;
    if (annotated !== undefined && annotated.trim() !== '' && Number.isFinite(Number(annotated))) return Number(annotated);
    return this.#budgets.find(({ fits }) => fits(namespace))?.amount;
  }
}
