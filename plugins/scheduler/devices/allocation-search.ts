import { randomUUID } from 'node:crypto';
import type { Node } from 'kubenest/types/core_v1';
import type { AllocationResult, ResourceClaim } from 'kubenest/types/resource_v1';
import { untoleratedTaint } from '../../common/tolerations.ts';
import { keyOf } from '../framework/pod-info.ts';
import { AllocationError, AllocationTimeout } from './allocation-error.ts';
import { allocationResult, type ChosenDevice } from './allocation-result.ts';
import { type Constraint, newConstraint } from './constraints.ts';
import { type Capacities, consumedCapacity, hasCapacity } from './consumable-capacity.ts';
import { CounterBudget } from './counters.ts';
import type { DeviceLedger } from './device-ledger.ts';
import type { SelectorResults } from './device-selectors.ts';
import { isForNode, type Pool, type PoolDevice } from './pools.ts';
import { type ClassLookup, type DeviceWish, maxDevices, wishesOf } from './requests.ts';

/** Number of devices and selectors that a search tries: about 50 ms. A search that goes back may have more choices than time. */
const maxTrials = 50_000;

/** `exceeded`: the claim would have more devices than it may have, whichever are chosen for the rest. */
type Outcome = 'done' | 'failed' | 'exceeded';

/** A wish with the devices that it may get. */
interface Option {
  readonly wish: DeviceWish;
  /** Candidates in the order of the pools; for a wish for all devices only those that it gets. */
  readonly devices: readonly PoolDevice[];
  readonly count: number;
}

interface ClaimPlan {
  readonly claim: ResourceClaim;
  /** Options of each request, the preferred one first. */
  readonly requests: readonly (readonly Option[])[];
  readonly constraints: readonly Constraint[];
  readonly chosen: ChosenDevice[];
  /** The chosen option of each request. */
  readonly options: Option[];
}

/**
 * A search for devices on one node, claim by claim, request by request and device by device, that goes back when it cannot continue. The
 * first solution is taken. Devices of one request are tried in one order only, since other orders are the same solution.
 */
export class AllocationSearch {
  readonly #plans: readonly ClaimPlan[];
  readonly #counters: CounterBudget;
  /** Claims of the search that have the device whole. */
  readonly #takenBy = new Map<string, ResourceClaim[]>();
  /** Results of the selectors, which do not depend on allocations. */
  readonly #selectable = new Map<DeviceWish, Map<PoolDevice, boolean>>();
  /** Capacity of the shares that the search gives. */
  readonly #shares = new Map<string, Capacities[]>();
  readonly #devices: readonly PoolDevice[];
  readonly #unusable: Pool | undefined;
  #trials = 0;

  constructor(
    claims: readonly ResourceClaim[],
    pools: readonly Pool[],
    private readonly node: Node,
    private readonly ledger: DeviceLedger,
    classes: ClassLookup,
    private readonly selectorResults: SelectorResults,
  ) {
    this.#devices = pools.filter(isUsable).flatMap((pool) => pool.devices);
    this.#unusable = pools.find((pool) => !isUsable(pool));
    this.#counters = new CounterBudget(({ id }) => ledger.isTaken(id) || ledger.shared(id) !== undefined);
    this.#plans = claims.map((claim) => this.#plan(claim, classes));
  }

  /** Returns one allocation for each claim; undefined if there is none. Throws AllocationTimeout. */
  run(): AllocationResult[] | undefined {
    const outcome = this.#plans.length === 0 ? 'done' : this.#allocateRequest(0, 0);
    if (outcome === 'exceeded') throw new AllocationError('allocation max size exceeded');
    if (outcome === 'failed') return undefined;
    const node = this.node.metadata.name ?? '';
    return this.#plans.map(({ claim, chosen, options }) =>
      allocationResult(
        claim,
        chosen,
        options.map(({ wish }) => wish),
        node,
      ),
    );
  }

  #plan(claim: ResourceClaim, classes: ClassLookup): ClaimPlan {
    const { requests = [], constraints = [] } = claim.spec?.devices ?? {};
    const options = requests.map((request) => wishesOf(claim, request, classes).map((wish) => this.#option(claim, wish)));
    const least = options.reduce((sum, alternatives) => sum + Math.min(...alternatives.map(({ count }) => count)), 0);
    if (least > maxDevices)
      throw new AllocationError(`claim ${keyOf(claim)}: number of requested devices ${least} exceeds the claim limit of ${maxDevices}`);
    return { claim, requests: options, constraints: constraints.map(newConstraint), chosen: [], options: [] };
  }

  #option(claim: ResourceClaim, wish: DeviceWish): Option {
    const unusable = this.#unusable;
    if (wish.count === undefined && unusable) {
      const state = unusable.isIncomplete ? 'being updated' : 'invalid';
      const reason = `asks for all devices, but resource pool ${unusable.id} is currently ${state}`;
      throw new AllocationError(`claim ${keyOf(claim)}, request ${wish.ownName}: ${reason}`);
    }
    if (wish.count !== undefined) return { wish, devices: this.#devices, count: wish.count };
    const all = this.#devices.filter((device) => this.#isSelectable(claim, wish, device) && this.#hasCapacity(wish, device));
    return { wish, devices: all, count: all.length };
  }

  #spend(trials: number): void {
    this.#trials += trials;
    if (this.#trials > maxTrials) throw new AllocationTimeout();
  }

  #isSelectable(claim: ResourceClaim, wish: DeviceWish, device: PoolDevice): boolean {
    const known = this.#selectable.get(wish) ?? new Map<PoolDevice, boolean>();
    this.#selectable.set(wish, known);
    const isSelectable = known.get(device) ?? this.#evaluateSelectors(claim, wish, device);
    known.set(device, isSelectable);
    return isSelectable;
  }

  #evaluateSelectors(claim: ResourceClaim, { deviceClass, selectors }: DeviceWish, { device, slice }: PoolDevice): boolean {
    const { driver = '' } = slice;
    this.#spend(1 + selectors.length + (deviceClass.spec?.selectors ?? []).length);
    const ofClass = this.selectorResults.match(deviceClass.spec?.selectors ?? [], driver, device);
    if (typeof ofClass === 'string') throw new AllocationError(`class ${deviceClass.metadata.name}: ${ofClass}`);
    const ofRequest = ofClass && this.selectorResults.match(selectors, driver, device);
    if (typeof ofRequest === 'string') throw new AllocationError(`claim ${keyOf(claim)}: ${ofRequest}`);
    return ofRequest && (!slice.perDeviceNodeSelection || isForNode(this.node, device));
  }

  #hasCapacity({ capacity }: DeviceWish, { id, device }: PoolDevice): boolean {
    return hasCapacity(capacity, device, [this.ledger.shared(id), ...(this.#shares.get(id) ?? [])]);
  }

  #allocateClaim(at: number): Outcome {
    if (at === this.#plans.length) return 'done';
    const outcome = this.#allocateRequest(at, 0);
    // With other alternatives of an earlier claim there may be a solution.
    return outcome === 'exceeded' ? 'failed' : outcome;
  }

  #allocateRequest(claim: number, request: number): Outcome {
    const plan = this.#plans[claim] as ClaimPlan;
    const options = plan.requests[request];
    if (!options) return this.#allocateClaim(claim + 1);
    let areAllExceeded = true;
    for (const option of options) {
      plan.options[request] = option;
      const outcome = this.#allocateDevices(claim, request, option, 0, 0);
      if (outcome === 'done') return outcome;
      areAllExceeded &&= outcome === 'exceeded';
    }
    return areAllExceeded ? 'exceeded' : 'failed';
  }

  /** Allocates the devices of an option from the `nth` on, from the candidate at `from` on. */
  #allocateDevices(claim: number, request: number, option: Option, nth: number, from: number): Outcome {
    const { wish, devices, count } = option;
    const isAll = wish.count === undefined;
    if (isAll && count === 0) return 'failed';
    if (nth >= count) return this.#allocateRequest(claim, request + 1);
    const plan = this.#plans[claim] as ClaimPlan;
    if (plan.chosen.length + count - nth > maxDevices) return 'exceeded';
    for (let i = from; i < devices.length; i++) {
      const device = devices[i] as PoolDevice;
      this.#spend(1);
      const give = this.#take(plan, wish, device, isAll);
      if (give) {
        const outcome = this.#allocateDevices(claim, request, option, nth + 1, i + 1);
        if (outcome === 'done') return outcome;
        give();
        if (outcome === 'exceeded') return outcome;
      }
      // All devices are needed, so there is no other choice.
      if (isAll) break;
    }
    return 'failed';
  }

  /** Gives a device to a claim and returns how to revert it; undefined if the claim cannot have it. */
  #take(plan: ClaimPlan, wish: DeviceWish, device: PoolDevice, isAll: boolean): (() => void) | undefined {
    if (!this.#isFree(plan.claim, wish, device) || !this.#isSelectable(plan.claim, wish, device)) return undefined;
    if (!this.#hasCapacity(wish, device)) return undefined;
    const undo: (() => void)[] = [];
    const revert = (): void => {
      for (const step of undo.reverse()) step();
    };
    if (!this.#takeCounters(device, undo) || isTainted(wish, device) || !this.#addToConstraints(plan, wish, device, isAll, undo)) {
      revert();
      return undefined;
    }
    const share = this.#use(plan.claim, wish, device, undo);
    plan.chosen.push({ wish, device, ...(share && { share }) });
    undo.push(() => plan.chosen.pop());
    return revert;
  }

  /** Admin access leaves a device to others, but a claim gets each device once. */
  #isFree(claim: ResourceClaim, { isAdmin }: DeviceWish, { id }: PoolDevice): boolean {
    const holders = this.#takenBy.get(id) ?? [];
    return isAdmin ? !holders.includes(claim) : holders.length === 0 && !this.ledger.isTaken(id);
  }

  /** Shares of a device consume its counters once. */
  #takeCounters(device: PoolDevice, undo: (() => void)[]): boolean {
    if (!device.device.consumesCounters?.length) return true;
    const isShared = this.ledger.shared(device.id) !== undefined || this.#shares.has(device.id);
    if (device.device.allowMultipleAllocations && isShared) return true;
    if (!this.#counters.take(device)) return false;
    undo.push(() => this.#counters.give(device));
    return true;
  }

  #addToConstraints(plan: ClaimPlan, wish: DeviceWish, { id, device, slice }: PoolDevice, isAll: boolean, undo: (() => void)[]): boolean {
    for (const constraint of plan.constraints) {
      if (constraint.add(wish.name, slice.driver ?? '', device)) undo.push(() => constraint.undo());
      else if (!isAll) return false;
      else {
        const reason = `cannot add device ${id} because a claim constraint would not be satisfied`;
        throw new AllocationError(`claim ${keyOf(plan.claim)}, request ${wish.ownName}: ${reason}`);
      }
    }
    return true;
  }

  /** Marks a device as used; returns the share of one that several claims may use. */
  #use(claim: ResourceClaim, wish: DeviceWish, { id, device }: PoolDevice, undo: (() => void)[]): ChosenDevice['share'] {
    if (!device.allowMultipleAllocations) {
      push(this.#takenBy, id, claim, undo);
      return undefined;
    }
    const capacity = consumedCapacity(wish.capacity, device);
    push(this.#shares, id, capacity, undo);
    return { id: randomUUID(), capacity };
  }
}

const isUsable = ({ isIncomplete, isInvalid }: Pool): boolean => !isIncomplete && !isInvalid;

function isTainted({ tolerations }: DeviceWish, { device }: PoolDevice): boolean {
  return untoleratedTaint(device.taints ?? [], tolerations, ['NoSchedule', 'NoExecute']) !== undefined;
}

function push<T>(lists: Map<string, T[]>, key: string, item: T, undo: (() => void)[]): void {
  const list = lists.get(key) ?? [];
  list.push(item);
  lists.set(key, list);
  undo.push(() => {
    list.pop();
    if (list.length === 0) lists.delete(key);
  });
}
