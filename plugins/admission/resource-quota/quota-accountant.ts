import type { Client, Informer, KubeObject } from 'kubenest/sdk';
import { type Attributes, newConflict, newInternalError } from 'kubenest/sdk';
import { inSteps, setOwn, type Steps } from '#sdk/internal';
import type { ResourceList } from '../../common/pod-walker.ts';
import type { ResourceQuotaObject } from '../../common/quota/evaluator.ts';
import { type QuotaState, quotaState } from './check-request.ts';
import { areEqual, type QuotaAmounts } from '../../common/quota/quota-amounts.ts';

const target = { group: '', version: 'v1', resource: 'resourcequotas', subresource: 'status' };
const retries = 3;
const patienceMs = 10_000;
const maxRemembered = 100;

/** Applies a request to the states of a namespace's quotas; throws to deny it. */
type CheckRequest = (states: readonly QuotaState[], request: Attributes) => readonly QuotaState[];

interface Waiter {
  readonly request: Attributes;
  admit(): void;
  deny(error: unknown): void;
  /** True after the verdict; later results are ignored. */
  done: boolean;
}

/** The states of the quotas after the requests, and the requests that changed them. */
interface Checked {
  readonly current: readonly QuotaState[];
  readonly charged: Waiter[];
}

/**
 * Charges requests to quotas, sequentially for each namespace: requests that arrive during a write are checked together
 * against the remaining quota and written at once. A request is admitted only after its usage is stored by compare-and-swap,
 * so a quota is never exceeded by concurrent requests of this or other servers. Upstream:
 * apiserver/pkg/admission/plugin/resourcequota/controller.go.
 */
export class QuotaAccountant {
  readonly #waiting = new Map<string, Waiter[]>();
  /** The last written quotas, used until the cache has received them. */
  readonly #written = new Map<string, ResourceQuotaObject>();
  /** The states of quotas as they are stored: a namespace may have thousands of quantities, and most requests change few. */
  readonly #states = new WeakMap<ResourceQuotaObject, QuotaState>();

  constructor(
    readonly quotas: Informer<ResourceQuotaObject>,
    readonly client: Client,
    readonly check: CheckRequest,
  ) {}

  /** Resolves when the request's usage is stored. Rejects if a quota denies it. */
  async charge(request: Attributes): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { request, admit: resolve, deny: reject, done: false };
    const queue = this.#waiting.get(request.namespace);
    if (queue) queue.push(waiter);
    else {
      this.#waiting.set(request.namespace, [waiter]);
      void this.#work(request.namespace);
    }
    const timer = setTimeout(() => {
      waiter.done = true;
      reject(newInternalError('resource quota evaluation timed out'));
    }, patienceMs);
    await promise.finally(() => clearTimeout(timer));
  }

  async #work(namespace: string): Promise<void> {
    for (let batch = this.#take(namespace); batch; batch = this.#take(namespace)) {
      try {
        await this.#settle(this.#statesOf(namespace), batch, retries);
      } catch (error) {
        for (const waiter of batch) decide(waiter, error);
      }
    }
  }

  /** Returns the waiting requests; if there are none, forgets the namespace and returns undefined. */
  #take(namespace: string): Waiter[] | undefined {
    const queue = this.#waiting.get(namespace);
    const batch = queue?.splice(0).filter(({ done }) => !done) ?? [];
    if (batch.length > 0) return batch;
    this.#waiting.delete(namespace);
    return undefined;
  }

  async #settle(states: readonly QuotaState[], batch: readonly Waiter[], retriesLeft: number): Promise<void> {
    const { current, charged } = await inSteps(this.#check(states, batch));
    const changed = current.filter((state, at) => !areEqual(state.used, states[at]?.used ?? new Map()));
    const failed: QuotaState[] = [];
    for (const state of changed) if (!(await this.#write(state))) failed.push(state);
    if (failed.length === 0) {
      for (const waiter of charged) decide(waiter);
      return;
    }
    if (retriesLeft === 0) {
      const error = newConflict(
        target,
        failed[0]?.quota.metadata.name ?? '',
        'the object has been modified; please apply your changes to the latest version and try again',
      );
      for (const waiter of charged) decide(waiter, error);
      return;
    }
    // Only failed quotas are checked again; the others already include these requests.
    const names = new Set(failed.map(({ quota }) => quota.metadata.name));
    const again = this.#statesOf(failed[0]?.quota.metadata.namespace ?? '').filter(({ quota }) => names.has(quota.metadata.name));
    await this.#settle(again, charged, retriesLeft - 1);
  }

  /** Checks the requests one after the other: each takes milliseconds if the namespace has many quotas of many resources. */
  *#check(states: readonly QuotaState[], batch: readonly Waiter[]): Steps<Checked> {
    let current = states;
    const charged: Waiter[] = [];
    for (const waiter of batch) {
      yield;
      if (waiter.done) continue;
      try {
        const next = this.check(current, waiter.request);
        const changes = next.some((state, at) => state !== current[at]);
        if (waiter.request.dryRun || !changes) decide(waiter);
        else {
          charged.push(waiter);
          current = next;
        }
      } catch (error) {
        decide(waiter, error);
      }
    }
    return { current, charged };
  }

  /** Resolves to false if another writer changed the quota meanwhile. */
  async #write({ quota, used }: QuotaState): Promise<boolean> {
    const { namespace = '', name = '', resourceVersion } = quota.metadata;
    const stored = await this.client.update(target, namespace, name, (object) =>
      object.metadata.resourceVersion === resourceVersion ? withUsed(object, used) : undefined,
    );
    if (!stored) return false;
    if (this.#written.size >= maxRemembered) this.#written.delete(this.#written.keys().next().value as string);
    this.#written.set(`${namespace}/${name}`, stored as ResourceQuotaObject);
    return true;
  }

  #statesOf(namespace: string): QuotaState[] {
    return this.quotas.list(namespace).map((quota) => this.#stateOf(this.#newest(quota)));
  }

  #stateOf(quota: ResourceQuotaObject): QuotaState {
    let state = this.#states.get(quota);
    if (!state) this.#states.set(quota, (state = quotaState(quota)));
    return state;
  }

  #newest(quota: ResourceQuotaObject): ResourceQuotaObject {
    const key = `${quota.metadata.namespace}/${quota.metadata.name}`;
    const written = this.#written.get(key);
    if (written && BigInt(written.metadata.resourceVersion ?? 0) > BigInt(quota.metadata.resourceVersion ?? 0)) return written;
    this.#written.delete(key);
    return quota;
  }
}

function decide(waiter: Waiter, error?: unknown): void {
  if (waiter.done) return;
  waiter.done = true;
  if (error === undefined) waiter.admit();
  else waiter.deny(error);
}

function withUsed(object: KubeObject, amounts: QuotaAmounts): KubeObject {
  const used: ResourceList = {};
  for (const [name, quantity] of amounts) setOwn(used, name, quantity.toString());
  return { ...object, status: { ...(object['status'] as object | undefined), used } };
}
