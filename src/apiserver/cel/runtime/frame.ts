import type { Value } from './values.ts';

/** The variables of one evaluation. Expensive variables are computed on first access. */
export interface Activation {
  resolve(name: string): Value | undefined;
}

/** Thrown when an evaluation exceeds its cost limit. */
export class CostLimitExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** The state of one evaluation. */
export class Frame {
  cost = 0;
  /** Loop variables, by the slot that the planner assigned. */
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
