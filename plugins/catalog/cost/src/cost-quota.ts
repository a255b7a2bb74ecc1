import {
  AdmissionPlugin,
  annotationOf,
  type Attributes,
  Configuration,
  deny,
  type Informer,
  Informers,
  inject,
  type KubeObject,
} from 'kubenest/sdk';
import { ConfigurationError, IsArray, IsNumber, IsObject, Min, Type, ValidateNested } from 'kubenest/sdk/configuration';
import { IsOptionalText, IsSomeTexts } from '../../common/configuration.ts';
import { type Matcher, matcherOf } from '../../common/patterns.ts';
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

/** Milliseconds for which the cost of a namespace is kept, with the objects admitted meanwhile. Before a denial it is counted again. */
const keptMs = 1_000;

/** The cost of a namespace. */
interface Spent {
  amount: number;
  readonly until: number;
}

/** The cost of an admitted object that is not in the cache yet. */
interface Reservation {
  readonly informer: Informer;
  readonly name: string;
  readonly cost: number;
  readonly until: number;
}

/**
 * Denies pods and claims that a namespace cannot pay. The cost is that of the requests of its pods and of its claims, in the server's cache.
 * Requests at the same time on several servers may exceed the budget together, since nothing is reserved in the store.
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
export class CostQuota {
  readonly #namespaces: Informer;
  readonly #priced: readonly Informer[];
  readonly #prices: Prices;
  readonly #budgets: readonly { readonly fits: Matcher; readonly amount: number }[];
  readonly #annotation: string | undefined;
  readonly #spent = new Map<string, Spent>();
  /** Reservations since the namespace was counted last, and those that waited for the cache then. */
  readonly #reserved = new Map<string, Reservation[]>();
  /** Costs of cached objects, which do not change. */
  readonly #costs = new WeakMap<KubeObject, number>();

  constructor(@inject(Informers) informers: Informers, @inject(Configuration) { prices, budgets, annotation }: CostQuotaConfiguration) {
    this.#namespaces = informers.for({ group: '', resource: 'namespaces' });
    this.#priced = ['pods', 'persistentvolumeclaims'].map((resource) => informers.for({ group: '', resource }));
    const wrong = Object.entries(prices).filter(([, price]) => typeof price !== 'number' || !(price >= 0));
    if (wrong.length > 0) throw new ConfigurationError(wrong.map(([name]) => `CostQuota.prices.${name}: must be a number of at least 0`));
    this.#prices = new Map(Object.entries(prices));
    this.#budgets = budgets.map(({ namespaces, amount }) => ({ fits: matcherOf(namespaces), amount }));
    this.#annotation = annotation;
  }

  validate(request: Attributes): void {
    const { object, oldObject, namespace } = request;
    const budget = this.#budgetOf(namespace);
    if (budget === undefined) return;
    const cost = costOf(object, this.#prices) - (oldObject ? costOf(oldObject, this.#prices) : 0);
    if (cost <= 0) return;
    let spent = this.#spent.get(namespace);
    if (!spent || spent.until < performance.now() || spent.amount + cost > budget)
      this.#spent.set(namespace, (spent = this.#count(namespace)));
    const total = spent.amount + cost;
    if (total > budget)
      deny(
        request,
        `namespace ${namespace} would cost ${total.toFixed(2)}, its budget is ${budget.toFixed(2)} (${cost.toFixed(2)} for this request)`,
      );
    if (request.dryRun) return;
    spent.amount = total;
    if (!oldObject) this.#reserve(request, cost);
  }

  #budgetOf(namespace: string): number | undefined {
    const object = this.#annotation === undefined ? undefined : this.#namespaces.get('', namespace);
    const annotated = object && this.#annotation !== undefined ? annotationOf(object, this.#annotation) : undefined;
    if (annotated !== undefined && annotated.trim() !== '' && Number.isFinite(Number(annotated))) return Number(annotated);
    return this.#budgets.find(({ fits }) => fits(namespace))?.amount;
  }

  #reserve({ namespace, name, resource }: Attributes, cost: number): void {
    const informer = this.#priced[resource.resource === 'pods' ? 0 : 1] as Informer;
    const reservation = { informer, name, cost, until: performance.now() + keptMs };
    const reserved = this.#reserved.get(namespace);
    if (reserved) reserved.push(reservation);
    else this.#reserved.set(namespace, [reservation]);
  }

  /** Returns the reservations of objects that are not in the cache yet. Those of requests that failed later end after a second. */
  #waiting(namespace: string): Reservation[] {
    const now = performance.now();
    const all = this.#reserved.get(namespace) ?? [];
    return all.filter(({ informer, name, until }) => until > now && informer.get(namespace, name) === undefined);
  }

  #count(namespace: string): Spent {
    const waiting = this.#waiting(namespace);
    if (waiting.length > 0) this.#reserved.set(namespace, waiting);
    else this.#reserved.delete(namespace);
    let amount = waiting.reduce((sum, { cost }) => sum + cost, 0);
    for (const informer of this.#priced) for (const object of informer.list(namespace)) amount += this.#costOf(object);
    return { amount, until: performance.now() + keptMs };
  }

  #costOf(object: KubeObject): number {
    let cost = this.#costs.get(object);
    if (cost === undefined) this.#costs.set(object, (cost = costOf(object, this.#prices)));
    return cost;
  }
}
