import type { AddressInfo } from 'node:net';
import { shareKeptBytes } from '#apimachinery/runtime/kept-bytes';
import { assertTlsOptions, type SecureServerOptions, type Serve, type TlsOptions } from '../secure-server.ts';
import { assertFree } from '../shares-ports.ts';
import { WorkerLink } from './worker-link.ts';

export interface ServingWorkersOptions extends SecureServerOptions {
  /** Number of threads that terminate connections. */
  readonly workers: number;
}

interface Place {
  readonly port: number;
  readonly host: string;
}

/** Maximum delay of a restart. A worker that exits is restarted immediately; the delay grows while restarts fail soon. */
const maxDelayMs = 1_000;
/** Time of operation after which the delay starts at zero again. */
const wellMs = 10_000;

/**
 * Serves a port like SecureServer, but with several threads that terminate connections. Each of them listens on the port
 * (SO_REUSEPORT), and this thread serves their requests. A thread that exits closes its own connections only.
 */
export class ServingWorkers {
  #options: ServingWorkersOptions;
  readonly #serve: Serve;
  readonly #onLoss: (error: Error | undefined) => void;
  readonly #links = new Set<WorkerLink>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #isEnding = false;
  /** Address of the listeners; undefined before they listen. */
  #place: Place | undefined;

  /** Starts the threads. `onLoss` is called for each that exits unexpectedly. */
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

  /** Listens in all threads. If one of them cannot, it rejects, and none listens. */
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

  /** Replaces the certificates from the next handshake on. Throws for unusable ones and keeps the current ones. */
  reload(tls: TlsOptions): void {
    assertTlsOptions(tls);
    this.#options = { ...this.#options, ...tls };
    for (const link of this.#links) link.order({ order: 'reload', tls });
  }

  /** Stops accepting connections; see SecureServer. */
  stopListening(): void {
    this.#isEnding = true;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const link of this.#links) link.order({ order: 'stopListening' });
  }

  /** Resolves when no client is about to send its first request; see SecureServer. */
  async settled(): Promise<void> {
    await Promise.all([...this.#links].map((link) => link.settled()));
  }

  /** Destroys all open connections. */
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
      // Before `listen` succeeded, the worker is kept, because its error is the reason of the failure.
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
      // A worker that cannot listen exits, which is reported.
      link.listen(place.port, place.host).catch(() => undefined);
    }, delayMs);
    this.#timers.add(timer);
  }
}
