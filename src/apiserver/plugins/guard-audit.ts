import type { AuditBackend, AuditEvent } from '#apiserver/audit/event';
import type { Logger } from '#apiserver/base/logger';
import { within } from './within.ts';

/** Isolates an audit backend of a package: events are lost and counted if it throws or times out. */
export class GuardedAuditBackend implements AuditBackend {
  constructor(
    readonly name: string,
    private readonly backend: Pick<AuditBackend, 'process'> & Partial<AuditBackend>,
    private readonly timeoutMs: number,
    private readonly logger: Logger,
  ) {}

  async process(events: readonly AuditEvent[]): Promise<boolean> {
    try {
      return await within(Promise.resolve(this.backend.process(events)), this.timeoutMs);
    } catch (error) {
      this.#tell(error, 'audit backend lost events');
      return false;
    }
  }

  async shutDown(): Promise<void> {
    try {
      await within(Promise.resolve(this.backend.shutDown?.()), this.timeoutMs);
    } catch (error) {
      this.#tell(error, 'audit backend did not shut down');
    }
  }

  #tell(err: unknown, message: string): void {
    this.logger.error({ plugin: this.name, err }, message);
  }
}
