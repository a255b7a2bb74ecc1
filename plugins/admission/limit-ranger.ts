import { AdmissionPlugin, type Attributes, Client, Clock, forbidden, type Informer, Informers, inject, Quantity } from 'kubenest/sdk';
import type { LimitRange, PersistentVolumeClaim } from 'kubenest/kinds';
import { aggregateMessages, setOwn } from '#sdk/internal';
import { type Amounts, amountsOf, podResources } from '../common/pod-resources.ts';
import type { Container, Pod, ResourceList, ResourceRequirements } from '../common/pod-walker.ts';
import { CaughtUp } from './caught-up.ts';

type LimitRangeItem = LimitRange['spec']['limits'][number];

const annotation = 'kubernetes.io/limit-ranger';
/**
 * Largest value compared in thousandths; beyond it, quantities are compared in whole units. Upstream:
 * resource.MaxMilliValue.
 */
const maxMilliValue = (2n ** 63n - 1n) / 1000n;

/**
 * Sets default requests and limits in containers, and enforces the namespace's LimitRanges on pods, containers and claims.
 * Upstream: kubernetes/plugin/pkg/admission/limitranger/admission.go.
 */
@AdmissionPlugin({
  name: 'LimitRanger',
  match: [
    { groups: [''], resources: ['pods'], operations: ['CREATE'] },
    { groups: [''], resources: ['pods'], subresources: ['resize'], operations: ['UPDATE'] },
    { groups: [''], resources: ['persistentvolumeclaims'], operations: ['CREATE', 'UPDATE'] },
  ],
})
export class LimitRanger {
  readonly #ranges: Informer<LimitRange>;
  readonly #caughtUp: CaughtUp;

  constructor(@inject(Informers) informers: Informers, @inject(Client) client: Client, @inject(Clock) clock: Clock) {
    this.#ranges = informers.for({ group: '', resource: 'limitranges' });
    this.#caughtUp = new CaughtUp(this.#ranges, { group: '', version: 'v1', resource: 'limitranges' }, client, clock);
  }

  admit(request: Attributes): void | Promise<void> {
    if (request.resource.resource !== 'pods') return;
    return this.#caughtUp.in(request.namespace)?.then(() => this.#applyDefaults(request)) ?? this.#applyDefaults(request);
  }

  validate(request: Attributes): void | Promise<void> {
    return this.#caughtUp.in(request.namespace)?.then(() => this.#check(request)) ?? this.#check(request);
  }

  #applyDefaults(request: Attributes): void {
    for (const limits of this.#limitsFor(request)) applyDefaults(request.object as Pod, limits);
  }

  #check(request: Attributes): void {
    for (const limits of this.#limitsFor(request)) {
      const problems =
        request.resource.resource === 'pods'
          ? podProblems(request.object as Pod, limits)
          : claimProblems(request.object as PersistentVolumeClaim, limits);
      if (problems.length > 0) throw forbidden(request, aggregateMessages(problems));
    }
  }

  *#limitsFor({ namespace, oldObject }: Attributes): Iterable<readonly LimitRangeItem[]> {
    // Updates of an object that is being deleted are not checked.
    if (oldObject?.metadata.deletionTimestamp !== undefined) return;
    for (const { spec } of this.#ranges.list(namespace)) yield spec?.limits ?? [];
  }
}

function applyDefaults(pod: Pod, limits: readonly LimitRangeItem[]): void {
  const requests: ResourceList = {};
  const maxima: ResourceList = {};
  for (const item of limits) {
    if (item.type !== 'Container') continue;
    for (const [name, amount] of Object.entries(item.defaultRequest ?? {})) setOwn(requests, name, amount);
    for (const [name, amount] of Object.entries(item.default ?? {})) setOwn(maxima, name, amount);
  }
  const done: string[] = [];
  const fill = (container: Container, sort: string): void => {
    const resources = (container.resources ??= {});
    const addedLimits = addMissing(resources, 'limits', maxima);
    const addedRequests = addMissing(resources, 'requests', requests);
    if (addedRequests.length > 0) done.push(`${addedRequests.join(', ')} request for ${sort} ${container.name}`);
    if (addedLimits.length > 0) done.push(`${addedLimits.join(', ')} limit for ${sort} ${container.name}`);
  };
  for (const container of pod.spec.containers ?? []) fill(container, 'container');
  for (const container of pod.spec.initContainers ?? []) fill(container, 'init container');
  if (done.length > 0) (pod.metadata.annotations ??= {})[annotation] = `LimitRanger plugin set: ${done.join('; ')}`;
}

/** Adds missing defaults. Returns the added names, sorted. */
function addMissing(resources: ResourceRequirements, which: 'requests' | 'limits', defaults: ResourceList): string[] {
  const missing = Object.keys(defaults).filter((name) => !Object.hasOwn(resources[which] ?? {}, name));
  for (const name of missing) setOwn((resources[which] ??= {}), name, defaults[name]);
  return missing.sort();
}

interface Usage {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

function podProblems(pod: Pod, limits: readonly LimitRangeItem[]): string[] {
  return limits.flatMap((item) => {
    if (item.type === 'Container') {
      return [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])].flatMap(({ resources }) =>
        problemsOf(item, { requests: amountsOf(resources?.requests), limits: amountsOf(resources?.limits) }),
      );
    }
    if (item.type !== 'Pod') return [];
    const options = { isPodLevelResource: (name: string) => name === 'cpu' || name === 'memory' };
    return problemsOf(item, { requests: podResources(pod, 'requests', options), limits: podResources(pod, 'limits', options) });
  });
}

function claimProblems({ spec }: PersistentVolumeClaim, limits: readonly LimitRangeItem[]): string[] {
  const usage = { requests: amountsOf(spec?.resources?.requests), limits: new Map() };
  return limits
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap((item) => [
      ...bounds(item.min, (name, bound) => belowMinimum(item.type, name, bound, usage)),
      ...bounds(item.max, (name, bound) => claimAboveMaximum(item.type, name, bound, usage)),
    ]);
}

function problemsOf(item: LimitRangeItem, usage: Usage): string[] {
  return [
    ...bounds(item.min, (name, bound) => belowMinimum(item.type, name, bound, usage)),
    ...bounds(item.max, (name, bound) => aboveMaximum(item.type, name, bound, usage)),
    ...bounds(item.maxLimitRequestRatio, (name, bound) => aboveRatio(item.type, name, bound, usage)),
  ];
}

function bounds(list: ResourceList | undefined, check: (name: string, bound: Quantity) => string | undefined): string[] {
  return [...amountsOf(list)].flatMap(([name, bound]) => check(name, bound) ?? []);
}

const zero = Quantity.fromInteger(0);

/** Converts quantities to a common unit: thousandths, or whole units if one is too large. */
function valuesOf(...quantities: readonly (Quantity | undefined)[]): bigint[] {
  const whole = quantities.map((quantity) => (quantity ?? zero).value());
  return whole.every((value) => value <= maxMilliValue) ? quantities.map((quantity) => (quantity ?? zero).milliValue()) : whole;
}

function belowMinimum(type: string, name: string, bound: Quantity, { requests, limits }: Usage): string | undefined {
  const request = requests.get(name);
  const limit = limits.get(name);
  const [asked = 0n, most = 0n, least = 0n] = valuesOf(request, limit, bound);
  const text = `minimum ${name} usage per ${type} is ${bound}`;
  if (!request) return `${text}.  No request is specified`;
  if (asked < least) return `${text}, but request is ${request}`;
  return limit && most < least ? `${text}, but limit is ${limit}` : undefined;
}

function claimAboveMaximum(type: string, name: string, bound: Quantity, { requests }: Usage): string | undefined {
  const request = requests.get(name);
  const [asked = 0n, most = 0n] = valuesOf(request, bound);
  const text = `maximum ${name} usage per ${type} is ${bound}`;
  if (!request) return `${text}.  No request is specified`;
  return asked > most ? `${text}, but request is ${request}` : undefined;
}

function aboveMaximum(type: string, name: string, bound: Quantity, { requests, limits }: Usage): string | undefined {
  const request = requests.get(name);
  const limit = limits.get(name);
  const [asked = 0n, limited = 0n, most = 0n] = valuesOf(request, limit, bound);
  const text = `maximum ${name} usage per ${type} is ${bound}`;
  if (!limit) return `${text}.  No limit is specified`;
  if (limited > most) return `${text}, but limit is ${limit}`;
  return request && asked > most ? `${text}, but request is ${request}` : undefined;
}

function aboveRatio(type: string, name: string, bound: Quantity, { requests, limits }: Usage): string | undefined {
  const [asked = 0n, limited = 0n] = valuesOf(requests.get(name), limits.get(name), bound);
  const text = `${name} max limit to request ratio per ${type} is ${bound}`;
  if (asked === 0n) return `${text}, but no request is specified or request is 0`;
  if (limited === 0n) return `${text}, but no limit is specified or limit is 0`;
  const ratio = Number(limited) / Number(asked);
  return ratio * 1000 > Number(bound.milliValue()) ? `${text}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}
