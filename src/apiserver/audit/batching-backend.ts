import type { AuditBackend, AuditEvent } from './event.ts';

/**
 * Options of a batching backend. Upstream: apiserver/plugin/pkg/audit/buffered/buffered.go. Times are in milliseconds;
 * `maxWaitMs` 0 waits for full batches.
 */
export interface BatchOptions {
  readonly bufferSize: number;
  readonly maxBatchSize: number;
  readonly maxWaitMs: number;
  /** Batches per second and burst; undefined: unlimited. */
  readonly throttle: { readonly qps: number; readonly burst: number } | undefined;
}

/**
 * Forwards events in batches, asynchronously to requests: a batch is sent when it is full or after the maximum wait. Events
 * beyond the buffer are dropped and counted as lost. Batches are forwarded sequentially, within the throttle.
 */
export class BatchingBackend implements AuditBackend {
  readonly name: string;
  #buffer: AuditEvent[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #tokens: number;
  #tokensAt = performance.now();
  #closed = false;

  constructor(
    private readonly backend: AuditBackend,
    private readonly options: BatchOptions,
  ) {
    this.name = `buffered<${backend.name}>`;
    this.#tokens = options.throttle?.burst ?? 0;
  }

  process(events: readonly AuditEvent[]): boolean {
    if (this.#closed || this.#buffer.length + events.length > this.options.bufferSize) return false;
    this.#buffer.push(...events);
    if (this.#buffer.length >= this.options.maxBatchSize) this.#flush();
    else if (this.options.maxWaitMs > 0) this.#timer ??= setTimeout(() => this.#flush(), this.options.maxWaitMs).unref();
    return true;
  }

  async shutDown(): Promise<void> {
    this.#closed = true;
    this.#flush();
    await this.#sending;
    await this.backend.shutDown();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#buffer.length > 0) {
      const wait = this.#closed ? 0 : this.#throttled();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait).unref());
      const batch = this.#buffer.slice(0, this.options.maxBatchSize);
      this.#buffer = this.#buffer.slice(batch.length);
      await this.backend.process(batch);
    }
  }

  /** Takes a token. Returns the milliseconds until it is available. */
  #throttled(): number {
    const { throttle } = this.options;
    if (!throttle) return 0;
    const now = performance.now();
    this.#tokens = Math.min(throttle.burst, this.#tokens + ((now - this.#tokensAt) / 1000) * throttle.qps) - 1;
    this.#tokensAt = now;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / throttle.qps) * 1000;
  }
}
