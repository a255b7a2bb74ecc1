import { Buffer } from 'node:buffer';
import { type AuditBackend, type AuditEvent, eventJson } from './event.ts';

export interface TruncateOptions {
  readonly maxEventSize: number;
  readonly maxBatchSize: number;
}

const truncated = 'audit.k8s.io/truncated';

/**
 * Removes the objects of events that are too large, drops events that are too large without them, and splits batches that
 * are too large. Sizes are bytes of JSON. Upstream: apiserver/plugin/pkg/audit/truncate/truncate.go.
 */
export class TruncatingBackend implements AuditBackend {
  readonly name: string;

  constructor(
    private readonly backend: AuditBackend,
    private readonly options: TruncateOptions,
  ) {
    this.name = `truncate<${backend.name}>`;
  }

  async process(events: readonly AuditEvent[]): Promise<boolean> {
    let complete = true;
    let batch: AuditEvent[] = [];
    let size = 0;
    const flush = async (): Promise<void> => {
      if (batch.length > 0) complete = (await this.backend.process(batch)) && complete;
      batch = [];
      size = 0;
    };
    for (const event of events) {
      const fitting = this.#fitting(event);
      if (!fitting) {
        complete = false;
        continue;
      }
      if (size + fitting.size > this.options.maxBatchSize) await flush();
      batch.push(fitting.event);
      size += fitting.size;
    }
    await flush();
    return complete;
  }

  shutDown(): Promise<void> {
    return this.backend.shutDown();
  }

  #fitting(event: AuditEvent): { readonly event: AuditEvent; readonly size: number } | undefined {
    const { maxEventSize } = this.options;
    const size = Buffer.byteLength(eventJson(event));
    if (size <= maxEventSize) return { event, size };
    const smaller = {
      ...event,
      requestObject: undefined,
      responseObject: undefined,
      annotations: { ...event.annotations, [truncated]: 'true' },
    };
    const left = Buffer.byteLength(eventJson(smaller));
    return left <= maxEventSize ? { event: smaller, size: left } : undefined;
  }
}
