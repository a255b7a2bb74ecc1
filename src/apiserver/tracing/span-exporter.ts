import { Client, credentials, Metadata } from '@grpc/grpc-js';
import type { Buffer } from 'node:buffer';
import { DialBridge } from '#apiserver/network/egress-selector/dial-bridge';
import type { Dial } from '#apiserver/network/egress-selector/egress-selector';
import type { Logger } from '#apiserver/base/logger';
import { exportTraceServiceRequest, exportTraceServiceResponse, type KeyValue, type SpanMessage } from './otlp-messages.ts';

/** The defaults of OpenTelemetry's batches (sdk/trace/batch_span_processor.go) and of its exporter (otlptracegrpc). */
const maxQueue = 2_048;
const maxBatch = 512;
const intervalMs = 5_000;
const timeoutMs = 10_000;
const exportPath = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
const scope = { name: 'kubenest' };

export interface SpanExporterOptions {
  /** As grpc names places: `host:port`, `dns:…`, `unix:…`, `unix-abstract:…`. */
  readonly endpoint: string;
  /** Who sends. */
  readonly resource: readonly KeyValue[];
  readonly log: Logger;
  /** How it is reached; undefined: straight. Sockets of this machine are reached straight anyway. */
  readonly dial?: Dial | undefined;
}

/**
 * Sends spans to a collector by OTLP over gRPC, without TLS as upstream does: in batches, every five seconds or when one is full.
 * Spans are dropped where they come faster than they go, and those of a batch that cannot be delivered; nobody waits for them.
 */
export class SpanExporter implements AsyncDisposable {
  readonly #options: SpanExporterOptions;
  readonly #client: Client;
  readonly #bridge: DialBridge | undefined;
  #queue: SpanMessage[] = [];
  #sending: Promise<boolean> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #dropped = 0;

  constructor(options: SpanExporterOptions) {
    this.#options = options;
    const { endpoint, dial } = options;
    const [, host, port = '443'] = /^(?:dns:(?:\/\/[^/]*\/)?)?([^/:]+|\[[^\]]+\])(?::(\d+))?$/.exec(endpoint) ?? [];
    this.#bridge = dial && host !== undefined ? new DialBridge(dial, host.replace(/^\[|\]$/g, ''), Number(port)) : undefined;
    const [place, authority] = this.#bridge ? [`unix:${this.#bridge.path}`, { 'grpc.default_authority': `${host}:${port}` }] : [endpoint];
    this.#client = new Client(place, credentials.createInsecure(), authority);
  }

  add(spans: readonly SpanMessage[]): void {
    for (const span of spans) {
      if (this.#queue.length < maxQueue) this.#queue.push(span);
      else this.#dropped += 1;
    }
    if (this.#queue.length >= maxBatch) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), intervalMs).unref();
  }

  /** Sends what is left, as far as a collector takes it. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    await this.#sending;
    let isTaken = true;
    while (isTaken && this.#queue.length > 0) isTaken = await this.#send();
    this.#client.close();
    this.#bridge?.[Symbol.dispose]();
  }

  /** One batch is under way at a time. */
  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
      if (this.#queue.length >= maxBatch) this.#flush();
      else if (this.#queue.length > 0) this.#timer ??= setTimeout(() => this.#flush(), intervalMs).unref();
    });
  }

  /** Whether the collector has taken the batch. */
  async #send(): Promise<boolean> {
    const { resource, log } = this.#options;
    const spans = this.#queue.splice(0, maxBatch);
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) log.warn({ dropped }, 'spans were dropped: they come faster than the collector takes them');
    const request = {
      resourceSpans: [{ resource: { attributes: resource as never }, scopeSpans: [{ scope, spans }] }],
    };
    const metadata = new Metadata({ waitForReady: true });
    return new Promise((resolve) => {
      this.#client.makeUnaryRequest(
        exportPath,
        (value: typeof request) => exportTraceServiceRequest.encode(value),
        (message: Buffer) => exportTraceServiceResponse.decode(message),
        request,
        metadata,
        { deadline: Date.now() + timeoutMs },
        (error) => {
          if (error) log.warn({ reason: error.message, spans: spans.length }, 'spans could not be delivered');
          resolve(!error);
        },
      );
    });
  }
}
