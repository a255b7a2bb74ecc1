import type { AuditBackend, AuditEvent, Logger } from 'kubenest/sdk';
import { eventJson, type JsonClient } from '#sdk/internal';

/**
 * `--audit-webhook-config-file`: posts batches of events to a service as EventList. Upstream:
 * apiserver/plugin/pkg/audit/webhook/webhook.go.
 */
export class AuditWebhook implements AuditBackend {
  readonly name = 'webhook';

  constructor(
    private readonly client: JsonClient,
    private readonly logger: Pick<Logger, 'error'>,
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
