/**
 * Limits the messages of one turn of a thread's event loop. The server receives them while the turn lasts, and would have to keep and
 * handle all of them. Messages beyond the limit are dropped, and reported when the turn ends.
 */
export class TurnLimit {
  #taken = 0;

  constructor(
    private readonly most: number,
    private readonly report: (dropped: number) => void,
  ) {}

  /** Returns true if one more message may be sent. */
  take(): boolean {
    if (this.#taken === 0) setImmediate(() => this.#endTurn());
    this.#taken += 1;
    return this.#taken <= this.most;
  }

  #endTurn(): void {
    const dropped = this.#taken - this.most;
    this.#taken = 0;
    if (dropped > 0) this.report(dropped);
  }
}
