import type { AuditBackend, AuditEvent } from './event.ts';

/**
 * Forwards events to all backends. They count as accepted if all backends accepted them. Upstream:
 * apiserver/pkg/audit/union.go.
 */
export class UnionBackend implements AuditBackend {
  readonly name = 'union';

  constructor(private readonly backends: readonly AuditBackend[]) {}

  process(events: readonly AuditEvent[]): boolean | Promise<boolean> {
    const answers = this.backends.map((backend) => backend.process(events));
    if (answers.every((answer) => typeof answer === 'boolean')) return answers.every(Boolean);
    return Promise.all(answers.map(async (answer) => answer)).then((all) => all.every(Boolean));
  }

  async shutDown(): Promise<void> {
    await Promise.all(this.backends.map((backend) => backend.shutDown()));
  }
}
