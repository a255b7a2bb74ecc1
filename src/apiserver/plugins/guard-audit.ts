import type { AuditBackend, AuditEvent } from '#apiserver/audit/event';
import type { Guarded } from './guard-access.ts';
import { type PluginFailures, type PluginName, reasonOf } from './plugin-failures.ts';
import { type RunPlugin, runnerOf } from './plugin-origin.ts';
import { within } from './within.ts';

/** Isolates an audit backend of a package: events are lost and counted if it throws, times out or does not return a boolean. */
export class GuardedAuditBackend implements AuditBackend {
  readonly name: string;
  readonly #plugin: PluginName;
  readonly #timeoutMs: number;
  readonly #run: RunPlugin;

  constructor(
    private readonly backend: Pick<AuditBackend, 'process'> & Partial<AuditBackend>,
    { described, guard, origin }: Guarded,
    private readonly failures: PluginFailures,
  ) {
    this.name = described.options.name;
    this.#plugin = { sort: 'audit backend', name: this.name, package: origin?.package };
    this.#timeoutMs = guard.timeoutMs;
    this.#run = runnerOf(origin);
  }

  async process(events: readonly AuditEvent[]): Promise<boolean> {
    try {
      const kept: unknown = await this.#within(() => this.backend.process(events));
      if (typeof kept !== 'boolean') throw new TypeError(`process returned ${String(kept)}, expected a boolean`);
      return kept;
    } catch (error) {
      this.failures.record(this.#plugin, reasonOf(error), error, { lost: events.length });
      return false;
    }
  }

  async shutDown(): Promise<void> {
    try {
      await this.#within(() => this.backend.shutDown?.());
    } catch (error) {
      this.failures.record(this.#plugin, reasonOf(error), error, { phase: 'shutdown' });
    }
  }

  #within<T>(work: () => T): Promise<Awaited<T>> {
    return within(Promise.resolve(this.#run(work)), this.#timeoutMs);
  }
}
