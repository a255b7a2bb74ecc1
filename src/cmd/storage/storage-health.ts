import { Gauge, type Registry } from 'prom-client';
import { NoSpaceError } from '#apiserver/storage/errors';
import type { Storage } from '#apiserver/storage/storage';
import type { Log } from '#cmd/logging/log';

/** How often it is looked whether there is room, also where nobody asks for the server's health. */
const lookMs = 10_000;

/**
 * The storage as a condition of the server. One that lacks nothing but room is alive and ready: it serves reads, watches and deletions, and no
 * restart would make room; kube-apiserver says the same of an etcd under its NOSPACE alarm, of which it reads a key. The lack is told by the log
 * and by a metric.
 */
export class StorageHealth {
  readonly #storage: Storage;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #isFull = false;

  constructor(storage: Storage, { log, registry }: { readonly log: Log; readonly registry: Registry }) {
    this.#storage = storage;
    this.#log = log;
    const isFull = (): boolean => this.#isFull;
    registry.registerMetric(
      new Gauge({
        name: 'kubenest_storage_full',
        help: 'Whether the storage lacked room when it was last looked at, and refuses all writes but deletions: 1 or 0.',
        registers: [],
        collect() {
          this.set(isFull() ? 1 : 0);
        },
      }),
    );
    this.#timer = setInterval(() => void this.check(undefined).catch(() => {}), lookMs).unref();
  }

  /** Rejects with what else is wrong. */
  async check(timeoutMs: number | undefined): Promise<void> {
    try {
      await this.#storage.healthy(timeoutMs);
      this.#note(undefined);
    } catch (error) {
      if (!(error instanceof NoSpaceError)) throw error;
      this.#note(error);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #note(lack: NoSpaceError | undefined): void {
    if (this.#isFull === (lack !== undefined)) return;
    this.#isFull = lack !== undefined;
    if (lack) this.#log.error({ reason: lack.message }, 'the storage is full: writes but deletions are refused until there is room');
    else this.#log.info({}, 'the storage has room again');
  }
}
