import { type AuditBackend, AuditBackendPlugin, type AuditEvent, Configuration, inject, Logger } from 'kubenest/sdk';
import { eventJson, type JsonClient } from '#sdk/internal';

/**
 * `--audit-webhook-config-file`: posts batches of events to a service as EventList. Upstream:
 * apiserver/plugin/pkg/audit/webhook/webhook.go.
 */
@AuditBackendPlugin({ name: 'webhook' })
export class AuditWebhook implements AuditBackend {
  readonly name = 'webhook';

  constructor(
    @inject(Configuration) private readonly client: JsonClient,
    @inject(Logger) private readonly logger: Pick<Logger, 'error'>,
  ) {}

  async process(events: readonly AuditEvent[]): Promise<boolean> {
    const items = events.map(eventJson).join(',');
    try {
      await this.client.deliver(`{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${items}]}`);
      return true;
    } catch (error) {
      this.logger.error({ reason: (error as Error).message, events: events.length }, 'cannot deliver audit events');
      return false;
    }
  }

  async shutDown(): Promise<void> {
    this.client[Symbol.dispose]();
  }
}
