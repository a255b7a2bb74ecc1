import { AuditBackendPlugin } from 'kubenest/sdk';

// mistake: the URI of an event is a text
@AuditBackendPlugin({ name: 'Records' })
export class Records {
  process(events: readonly { requestURI: number }[]): boolean {
    return events.length > 0;
  }
}
