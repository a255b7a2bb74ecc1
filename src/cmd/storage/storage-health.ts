import { Gauge, type Registry } from 'prom-client';
import { NoSpaceError } from '#apiserver/storage/errors';
import type { Storage } from '#apiserver/storage/storage';
import type { Log } from '#cmd/logging/log';

/** Interval of the space check, which runs even if no client requests the server's health. */
const lookMs = 10_000;

/**
 * Health of the storage. A server whose storage only lacks space is alive and ready: it serves reads, watches and deletions, and a restart
 * would not free space. kube-apiserver reports the same for an etcd with a NOSPACE alarm, because its check only reads a key. The log and a
 * metric report the lack of space.
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
        help: '1 if the storage lacked space at the last check and rejects all writes except deletions, otherwise 0.',
        registers: [],
        collect() {
          this.set(isFull() ? 1 : 0);
        },
      }),
    );
    this.#timer = setInterval(() => void this.check(undefined).catch(() => {}), lookMs).unref();
  }

  /** Checks the storage. Rejects with any problem other than a lack of space. */
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
    if (lack)
      this.#log.error({ reason: lack.message }, 'the storage is full: all writes except deletions are rejected until space is available');
    else this.#log.info({}, 'the storage has space again');
  }
}
