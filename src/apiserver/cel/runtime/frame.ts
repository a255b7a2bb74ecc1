import type { Value } from './values.ts';

/** What variables are, for one evaluation. A variable that costs something to make is made when it is first asked for. */
export interface Activation {
  resolve(name: string): Value | undefined;
}

/** Thrown when an evaluation has cost too much. */
export class CostLimitExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** Thrown out of an evaluation that needs an answer which is not there yet. When the promise is kept, the evaluation is begun anew. */
export class Suspended extends Error {
  constructor(readonly until: Promise<unknown>) {
    super('evaluation suspended');
  }
}

/** What a computation comes to, begun anew whenever it was suspended: a promise only then. It must change nothing before its end. */
export function settled<T>(compute: () => T): T | Promise<T> {
  try {
    return compute();
  } catch (error) {
    if (!(error instanceof Suspended)) throw error;
    return error.until.then(() => settled(compute));
  }
}

/** The state of one evaluation. */
export class Frame {
  cost = 0;
  /** Variables of loops, by the slot that the planner gave them. */
  readonly locals: (Value | undefined)[] = [];

  constructor(
    readonly activation: Activation,
    readonly limit: number,
  ) {}

  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.limit) throw new CostLimitExceeded();
  }
}

/** A compiled node. */
export type Evaluate = (frame: Frame) => Value;
