import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { assertTlsOptions, type SecureServerOptions, type Serve, type TlsOptions } from '../secure-server.ts';
import { WorkerLink } from './worker-link.ts';

export interface ServingWorkersOptions extends SecureServerOptions {
  /** How many threads terminate connections. */
  readonly workers: number;
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
  #address: { port: number; host: string } | undefined;

  /** `onLoss` is told of each thread that has ended of itself. */
  constructor(options: ServingWorkersOptions, serve: Serve, onLoss: (error: Error | undefined) => void) {
    this.#options = options;
    this.#serve = serve;
    this.#onLoss = onLoss;
  }

  /** Rejects where one of them cannot listen; none does then. */
  async listen(port: number, host: string): Promise<AddressInfo> {
    assertTlsOptions(this.#options);
    if (port !== 0 && !this.#options.sharesPort) await assertFree(port, host);
    try {
      const address = await this.#start(port, host).listening;
      this.#address = { port: address.port, host };
      const others = Array.from({ length: this.#options.workers - 1 }, () => this.#start(address.port, host).listening);
      await Promise.all(others);
      return address;
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

  #start(port: number, host: string, delayMs = 0): WorkerLink {
    const { workers: _, sharesPort: __, ...options } = this.#options;
    const link = new WorkerLink({ ...options, port, bindAddress: host }, this.#serve);
    const began = performance.now();
    this.#links.add(link);
    void link.ended.then((error) => {
      this.#links.delete(link);
      if (this.#isEnding || !this.#address) return;
      this.#onLoss(error);
      this.#startAnew(performance.now() - began > wellMs ? 0 : delayMs);
    });
    return link;
  }

  #startAnew(delayMs: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      const { port, host } = this.#address as { port: number; host: string };
      this.#start(port, host, Math.min(maxDelayMs, delayMs * 2 + 100));
    }, delayMs);
    this.#timers.add(timer);
  }
}

/** Several of one user may listen on a port that is shared: somebody else's is not to be. Rejects with EADDRINUSE. */
async function assertFree(port: number, host: string): Promise<void> {
  const server = net.createServer();
  server.listen({ port, host });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
