import { Counter, type Registry } from 'prom-client';
import type { AuditBackend, AuditEvent, AuditLevel } from './event.ts';
import type { AuditDecision } from './policy.ts';

/** Audit counters under upstream's names; plain numbers until /metrics is read. Upstream: apiserver/pkg/audit/metrics.go. */
export class AuditMetrics {
  #events = 0;
  #refused = 0;
  readonly #levels: Record<AuditLevel, number> = { None: 0, Metadata: 0, Request: 0, RequestResponse: 0 };
  readonly #errors: Counter;

  constructor(registry: Registry) {
    const counter = (name: string, help: string, labelNames: string[], add?: (counter: Counter) => void): Counter =>
      new Counter({
        name: `apiserver_audit_${name}`,
        help,
        labelNames,
        registers: [registry],
        ...(add && {
          collect() {
            this.reset();
            add(this);
          },
        }),
      });
    counter('event_total', 'Counter of audit events generated and sent to the audit backend.', [], (total) => total.inc(this.#events));
    this.#errors = counter(
      'error_total',
      'Counter of audit events that failed to be audited properly. Plugin identifies the plugin affected by the error.',
      ['plugin'],
    );
    counter('level_total', 'Counter of policy levels for audit events (1 per request).', ['level'], (total) => {
      for (const [level, count] of Object.entries(this.#levels)) if (count > 0) total.inc({ level }, count);
    });
    counter('requests_rejected_total', 'Counter of apiserver requests rejected due to an error in audit logging backend.', [], (total) =>
      total.inc(this.#refused),
    );
  }

  /** Counts the policy's decision about a request. */
  decided({ level }: AuditDecision): void {
    this.#levels[level] += 1;
  }

  /** Counts a request that was rejected because its event could not be stored. */
  refused(): void {
    this.#refused += 1;
  }

  /** Counts created events. */
  made(count: number): void {
    this.#events += count;
  }

  /** Counts events lost by a backend. */
  lost(plugin: string, count: number): void {
    this.#errors.inc({ plugin }, count);
  }
}

/** A backend whose lost events are counted under its plugin's name. */
export class CountedBackend implements AuditBackend {
  readonly name: string;

  constructor(
    private readonly backend: AuditBackend,
    private readonly plugin: string,
    private readonly metrics: AuditMetrics,
  ) {
    this.name = backend.name;
  }

  process(events: readonly AuditEvent[]): boolean | Promise<boolean> {
    const answer = this.backend.process(events);
    return typeof answer === 'boolean' ? this.#count(answer, events) : answer.then((stored) => this.#count(stored, events));
  }

  shutDown(): Promise<void> {
    return this.backend.shutDown();
  }

  #count(stored: boolean, events: readonly AuditEvent[]): boolean {
    if (!stored) this.metrics.lost(this.plugin, events.length);
    return stored;
  }
}
