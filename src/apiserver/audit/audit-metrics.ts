import { Counter, type Registry } from 'prom-client';
import type { AuditBackend, AuditEvent } from './event.ts';
import type { AuditDecision } from './policy.ts';

/** What became of requests and events, under upstream's names. Upstream: apiserver/pkg/audit/metrics.go. */
export class AuditMetrics {
  readonly #events: Counter;
  readonly #errors: Counter;
  readonly #levels: Counter;
  readonly #refused: Counter;

  constructor(registry: Registry) {
    const counter = (name: string, help: string, labelNames: string[] = []): Counter =>
      new Counter({ name: `apiserver_audit_${name}`, help, labelNames, registers: [registry] });
    this.#events = counter('event_total', 'Counter of audit events generated and sent to the audit backend.');
    this.#errors = counter(
      'error_total',
      'Counter of audit events that failed to be audited properly. Plugin identifies the plugin affected by the error.',
      ['plugin'],
    );
    this.#levels = counter('level_total', 'Counter of policy levels for audit events (1 per request).', ['level']);
    this.#refused = counter('requests_rejected_total', 'Counter of apiserver requests rejected due to an error in audit logging backend.');
  }

  /** The policy has decided on a request. */
  decided({ level }: AuditDecision): void {
    this.#levels.inc({ level });
  }

  /** A request was refused because its event could not be stored. */
  refused(): void {
    this.#refused.inc();
  }

  /** Events were made. */
  made(count: number): void {
    this.#events.inc(count);
  }

  /** A backend lost events. */
  lost(plugin: string, count: number): void {
    this.#errors.inc({ plugin }, count);
  }
}

/** A backend whose losses are counted under the name of its plugin. */
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
