import type { AuditBackend, AuditEvent } from './event.ts';

/**
 * Hands over what the answers of one turn of the event loop wait for all at once: a log writes the events of requests that came
 * together by one system call, which costs as much as the rest of a GET. Events that no answer waits for are handed over as they come.
 */
export class EventsOfTurn implements AuditBackend {
  readonly name: string;
  #events: AuditEvent[] = [];
  #answers: (() => void)[] = [];

  constructor(
    private readonly backend: AuditBackend,
    /** Told of an answer that could not be sent: it harms no other. */
    private readonly onError: (error: unknown) => void,
  ) {
    this.name = backend.name;
  }

  process(events: readonly AuditEvent[]): boolean | Promise<boolean> {
    return this.backend.process(events);
  }

  /** `answer` is called when the turn ends, after the events were handed over. */
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
