import type { AuditBackend, AuditEvent } from './event.ts';

/**
 * Forwards the events that responses of the current turn of the event loop wait for together: a log then writes the events
 * of concurrent requests with a single system call, which costs as much as the rest of a GET. Events without a waiting
 * response are forwarded immediately.
 */
export class EventsOfTurn implements AuditBackend {
  readonly name: string;
  #events: AuditEvent[] = [];
  #answers: (() => void)[] = [];

  constructor(
    private readonly backend: AuditBackend,
    /** Called if a response fails to be sent; other responses are unaffected. */
    private readonly onError: (error: unknown) => void,
  ) {
    this.name = backend.name;
  }

  process(events: readonly AuditEvent[]): boolean | Promise<boolean> {
    return this.backend.process(events);
  }

  /** Calls `answer` at the end of the turn, after the events were forwarded. */
  processBefore(events: readonly AuditEvent[], answer: () => void): void {
    if (this.#answers.length === 0) setImmediate(() => this.#handOver());
    this.#events.push(...events);
    this.#answers.push(answer);
  }

  #handOver(): void {
    const [events, answers] = [this.#events, this.#answers];
    this.#events = [];
    this.#answers = [];
    if (events.length > 0) void this.backend.process(events);
    for (const answer of answers) {
      try {
        answer();
      } catch (error) {
        this.onError(error);
      }
    }
  }

  async shutDown(): Promise<void> {
    this.#handOver();
    await this.backend.shutDown();
  }
}
