import type { AddressInfo } from 'node:net';
import { shareKeptBytes } from '#apimachinery/runtime/kept-bytes';
import { assertTlsOptions, type SecureServerOptions, type Serve, type TlsOptions } from '../secure-server.ts';
import { assertFree } from '../shares-ports.ts';
import { WorkerLink } from './worker-link.ts';

export interface ServingWorkersOptions extends SecureServerOptions {
  /** How many threads terminate connections. */
  readonly workers: number;
}

interface Place {
  readonly port: number;
  readonly host: string;
}

/** One that has ended is started anew at once, and the next ones that end soon after ever later, up to so much. */
const maxDelayMs = 1_000;
/** It has been well for so long: its end is the first one. */
const wellMs = 10_000;

/**
 * The same port as that of a SecureServer, whose connections are terminated by several threads: each listens on it
 * (SO_REUSEPORT), and all that they read is served by this thread. A thread that ends takes its connections with it, and
 * no others.
 */
export class ServingWorkers {
  #options: ServingWorkersOptions;
  readonly #serve: Serve;
  readonly #onLoss: (error: Error | undefined) => void;
  readonly #links = new Set<WorkerLink>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #isEnding = false;
  /** Where it listens; undefined before. */
  #place: Place | undefined;

  /** The threads begin to load. `onLoss` is told of each that has ended of itself. */
  constructor(
    options: ServingWorkersOptions,
    serve: Serve,
    onLoss: (error: Error | undefined) => void,
    readonly onHandshakeError?: () => void,
  ) {
    this.#options = options;
    this.#serve = serve;
    this.#onLoss = onLoss;
    shareKeptBytes();
    for (let i = 0; i < options.workers; i++) this.#start();
  }

  /** Rejects where one of them cannot listen; none does then. */
  async listen(port: number, host: string): Promise<AddressInfo> {
    try {
      assertTlsOptions(this.#options);
      if (port !== 0 && !this.#options.sharesPort) await assertFree(port, host);
      const [first, ...others] = [...this.#links] as [WorkerLink, ...WorkerLink[]];
      const address = port === 0 ? await first.listen(port, host) : undefined;
      const place = { port: address?.port ?? port, host };
      this.#place = place;
      const rest = address ? others : [first, ...others];
      const addresses = await Promise.all(rest.map((link) => link.listen(place.port, host)));
      return address ?? (addresses[0] as AddressInfo);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Serves with other certificates from the next handshake on. Throws for those that cannot be used, and keeps the old ones. */
  reload(tls: TlsOptions): void {
    assertTlsOptions(tls);
    this.#options = { ...this.#options, ...tls };
    for (const link of this.#links) link.order({ order: 'reload', tls });
  }

  /** As a SecureServer does. */
  stopListening(): void {
    this.#isEnding = true;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const link of this.#links) link.order({ order: 'stopListening' });
  }

  /** Breaks all that is still open. */
  async close(): Promise<void> {
    if (!this.#isEnding) this.stopListening();
    await Promise.all([...this.#links].map((link) => link.close()));
  }

  #start(delayMs = 0): WorkerLink {
    const { workers: _, sharesPort: __, ...options } = this.#options;
    const link = new WorkerLink(options, this.#serve, this.onHandshakeError);
    const began = performance.now();
    this.#links.add(link);
    void link.ended.then((error) => {
      // Before, it is kept: its end is why none listens.
      if (this.#isEnding || !this.#place) return;
      this.#links.delete(link);
      this.#onLoss(error);
      this.#startAnew(this.#place, performance.now() - began > wellMs ? 0 : delayMs);
    });
    return link;
  }

  #startAnew(place: Place, delayMs: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      const link = this.#start(Math.min(maxDelayMs, delayMs * 2 + 100));
      // One that cannot listen ends, and that is told.
      link.listen(place.port, place.host).catch(() => undefined);
    }, delayMs);
    this.#timers.add(timer);
  }
}
