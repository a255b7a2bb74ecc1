import type { UserInfo } from '#apiserver/request/user-info';
import type { RequestInfo } from '#apiserver/request/request-info';
import { allocateConcurrency } from './concurrency-allocation.ts';
import { DroppedRequests } from './dropped-requests.ts';
import { LoopPressure, noPressure } from './loop-pressure.ts';
import { QueueSet } from './queue-set.ts';
import { type FlowSchema, matchesFlowSchema, type PriorityLevelConfiguration } from './rule.ts';
import { dealHand } from './shuffle-sharding.ts';

/** Coefficient of smoothing the seat demand. Upstream: apiserver/pkg/util/flowcontrol/apf_controller.go. */
const smoothing = 0.977;
const maxSeatsShare = 0.15;
/** Maximum number of cached classifications per user. */
const maxRemembered = 512;
const serverName = 'exempt';

/** The runtime state of a priority level. */
export interface PriorityLevel {
  readonly name: string;
  readonly uid: string;
  readonly isExempt: boolean;
  readonly queues: QueueSet;
  readonly deckSize: number;
  readonly handSize: number;
  /** Maximum seats of one request; 0: no limit specific to the level. */
  readonly maxSeats: number;
  readonly nominal: number;
  readonly min: number;
  readonly max: number;
  readonly dropped: DroppedRequests;
  /** Parameters that the queues were created with; when they change, the queues are replaced. */
  readonly shape: string;
  smoothedDemand: number;
  current: number;
}

/** The seat demand of a level. */
export interface LevelDemand {
  readonly average: number;
  readonly deviation: number;
  readonly max: number;
  readonly target: number;
}

/** The flow of a request. */
export interface Classification {
  readonly flowSchema: string;
  readonly flowSchemaUid: string;
  readonly level: PriorityLevel;
  /** Indices of the queues available to the flow. */
  readonly hand: readonly number[];
  /** Distinguisher of flows within the schema: a user, a namespace, or empty. */
  readonly distinguisher: string;
}

/**
 * Creates queues from flow schemas and priority levels, classifies requests, and periodically moves seats from idle levels
 * to those that need them. Requests that match no schema belong to `catch-all`. Upstream:
 * apiserver/pkg/util/flowcontrol/apf_controller.go.
 */
export class FlowController {
  #schemas: readonly FlowSchema[] = [];
  #levels: ReadonlyMap<string, PriorityLevel> = new Map();
  /** Cached classifications by user and request attributes. */
  #classified = new WeakMap<UserInfo, Map<string, Classification>>();
  /** Demands of the levels between the last two adjustments. */
  #demands: ReadonlyMap<string, LevelDemand> = new Map();
  #fairFraction = 0;
  readonly #pressure = new LoopPressure(() => {
    for (const { queues } of this.#levels.values()) queues.dispatch();
  });

  /** `concurrency` is the number of seats of the whole server. */
  constructor(
    readonly concurrency: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  get levels(): ReadonlyMap<string, PriorityLevel> {
    return this.#levels;
  }

  get demands(): ReadonlyMap<string, LevelDemand> {
    return this.#demands;
  }

  /** The fraction of its demand that each level with demand receives. */
  get fairFraction(): number {
    return this.#fairFraction;
  }

  get schemas(): readonly FlowSchema[] {
    return this.#schemas;
  }

  /** Applies a configuration. Levels with unchanged queue parameters keep their requests. */
  configure(schemas: readonly FlowSchema[], levels: readonly PriorityLevelConfiguration[]): void {
    const shares = levels.reduce((sum, level) => sum + sharesOf(level), 0);
    const next = new Map<string, PriorityLevel>();
    for (const level of levels) {
      const name = level.metadata.name ?? '';
      next.set(name, this.#level(name, level, shares));
    }
    this.#levels = next;
    this.#schemas = schemas
      .filter(({ spec }) => next.has(spec?.priorityLevelConfiguration?.name ?? ''))
      .sort((a, b) => precedenceOf(a) - precedenceOf(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
    this.#classified = new WeakMap();
    this.adjust();
  }

  /**
   * Returns the flow of a request; undefined before the first configuration, or if no schema matches and `catch-all` is
   * missing.
   */
  classify(user: UserInfo, info: RequestInfo): Classification | undefined {
    let known = this.#classified.get(user);
    if (!known) {
      known = new Map();
      this.#classified.set(user, known);
    }
    const key = info.isResourceRequest
      ? `${info.verb} ${info.apiGroup} ${info.resource} ${info.subresource} ${info.namespace}`
      : `${info.verb} ${info.path}`;
    let classification = known.get(key);
    if (!classification) {
      classification = this.#classify(user, info);
      if (!classification) return undefined;
      if (known.size >= maxRemembered) known.clear();
      known.set(key, classification);
    }
    return classification;
  }

  #classify(user: UserInfo, info: RequestInfo): Classification | undefined {
    const schema =
      this.#schemas.find((one) => matchesFlowSchema(one, user, info)) ??
      this.#schemas.find(({ metadata }) => metadata.name === 'catch-all');
    const level = this.#levels.get(schema?.spec?.priorityLevelConfiguration?.name ?? '');
    if (!schema || !level) return undefined;
    const method = schema.spec?.distinguisherMethod?.type;
    const distinguisher = method === 'ByUser' ? user.name : method === 'ByNamespace' ? info.namespace : '';
    const name = schema.metadata.name ?? '';
    return {
      flowSchema: name,
      flowSchemaUid: schema.metadata.uid ?? '',
      level,
      distinguisher,
      hand: level.deckSize > 0 ? dealHand(`${name.length}:${name}${distinguisher}`, level.deckSize, level.handSize) : [],
    };
  }

  #level(name: string, { metadata, spec }: PriorityLevelConfiguration, shares: number): PriorityLevel {
    const isExempt = spec?.type === 'Exempt';
    const { limited, exempt } = spec ?? {};
    const nominal = shares === 0 ? 0 : Math.ceil((this.concurrency * sharesOf({ metadata, spec } as PriorityLevelConfiguration)) / shares);
    const lendable = Math.round((nominal * ((isExempt ? exempt : limited)?.lendablePercent ?? 0)) / 100);
    const borrowing = limited?.borrowingLimitPercent;
    const queuing = limited?.limitResponse?.type === 'Queue' ? limited.limitResponse.queuing : undefined;
    const { queues: deckSize = 0, handSize = 0, queueLengthLimit = 0 } = queuing ?? {};
    const shape = JSON.stringify([isExempt, deckSize, queueLengthLimit]);
    const present = this.#levels.get(name);
    const kept = present?.shape === shape ? present : undefined;
    const initial = nominal - Math.floor(lendable / 2);
    return {
      name,
      uid: metadata.uid ?? '',
      isExempt,
      queues:
        kept?.queues ??
        new QueueSet(
          { queuing: deckSize > 0 ? { queues: deckSize, queueLengthLimit } : undefined },
          isExempt ? Number.POSITIVE_INFINITY : initial,
          this.now,
          isExempt ? noPressure : this.#pressure,
        ),
      deckSize,
      handSize: Math.min(handSize, deckSize),
      maxSeats: handSize > 0 ? Math.max(1, Math.min(Math.ceil(nominal * maxSeatsShare), Math.floor(nominal / handSize))) : 0,
      nominal,
      min: nominal - lendable,
      max: nominal + (borrowing === undefined ? this.concurrency : Math.round((nominal * borrowing) / 100)),
      dropped: kept?.dropped ?? new DroppedRequests(),
      shape,
      smoothedDemand: kept?.smoothedDemand ?? 0,
      current: kept?.current ?? initial,
    };
  }

  /** Allocates seats to levels by their demand since the last call; called every 10 seconds. */
  adjust(): void {
    const levels = [...this.#levels.values()];
    let remaining = levels.reduce((sum, { nominal }) => sum + nominal, 0);
    const total = remaining;
    const limited: { readonly level: PriorityLevel; readonly lowest: number }[] = [];
    const demands = new Map<string, LevelDemand>();
    for (const level of levels) {
      const { average, deviation, max, duration } = level.queues.demand.reset(this.now());
      if (duration > 0) {
        const envelope = average + deviation;
        level.smoothedDemand = Math.max(envelope, smoothing * level.smoothedDemand + (1 - smoothing) * envelope);
      }
      const highest = Math.round(max);
      demands.set(level.name, { average, deviation, max, target: Math.max(level.min, level.smoothedDemand) });
      if (level.isExempt) {
        level.current = Math.max(level.min, highest);
        remaining -= level.current;
      } else {
        limited.push({ level, lowest: Math.max(level.min, Math.min(level.nominal, highest)) });
      }
    }
    this.#demands = demands;
    const { seats, fairFraction } = shareOut(limited, remaining, total);
    this.#fairFraction = fairFraction;
    for (const [i, { level }] of limited.entries()) {
      level.current = seats[i] as number;
      level.queues.limit = level.current;
    }
    const now = this.now();
    for (const { queues, current, nominal } of levels) queues.usage.measureBy(current, nominal, now);
  }
}

function shareOut(
  limited: readonly { readonly level: PriorityLevel; readonly lowest: number }[],
  remaining: number,
  total: number,
): { readonly seats: readonly number[]; readonly fairFraction: number } {
  const minSum = limited.reduce((sum, { level }) => sum + level.min, 0);
  const lowestSum = limited.reduce((sum, { lowest }) => sum + lowest, 0);
  if (remaining <= minSum) return { seats: limited.map(({ level }) => level.min), fairFraction: 0 };
  if (remaining <= lowestSum) {
    const share = (remaining - minSum) / (lowestSum - minSum);
    return { seats: limited.map(({ level, lowest }) => level.min + Math.round((lowest - level.min) * share)), fairFraction: share };
  }
  try {
    const items = limited.map(({ level, lowest }) => ({
      lowerBound: lowest,
      upperBound: level.max,
      target: Math.max(lowest, level.smoothedDemand),
    }));
    const { seats, fairFraction } = allocateConcurrency(total, items);
    return { seats: seats.map(Math.round), fairFraction };
  } catch {
    // The bounds exclude an exact allocation, so each level keeps its seats.
    return { seats: limited.map(({ level }) => level.current), fairFraction: 0 };
  }
}

function sharesOf({ metadata, spec }: PriorityLevelConfiguration): number {
  if (spec?.type === 'Exempt') return spec.exempt?.nominalConcurrencyShares ?? 0;
  return spec?.limited?.nominalConcurrencyShares ?? (metadata.name === serverName ? 0 : 30);
}

function precedenceOf({ spec }: FlowSchema): number {
  return spec?.matchingPrecedence ?? 1000;
}
