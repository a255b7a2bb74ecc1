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
  /** A gRPC target: `host:port`, `dns:…`, `unix:…`, `unix-abstract:…`. */
  readonly endpoint: string;
  /** Attributes of the sender. */
  readonly resource: readonly KeyValue[];
  readonly log: Logger;
  /** Dialer; undefined: direct connections. Local sockets are always connected to directly. */
  readonly dial?: Dial | undefined;
}

/**
 * Sends spans to a collector by OTLP over gRPC, without TLS as in upstream: in batches, every five seconds or when one is
 * full. Spans are dropped if they arrive faster than they are sent, or if their batch cannot be delivered; requests never
 * wait for the exporter.
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

  /** Sends the remaining spans as far as the collector accepts them. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    await this.#sending;
    let isTaken = true;
    while (isTaken && this.#queue.length > 0) isTaken = await this.#send();
    this.#client.close();
    this.#bridge?.[Symbol.dispose]();
  }

  /** Sends the next batch, unless one is being sent. */
  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
      if (this.#queue.length >= maxBatch) this.#flush();
      else if (this.#queue.length > 0) this.#timer ??= setTimeout(() => this.#flush(), intervalMs).unref();
    });
  }

  /** Resolves to true if the collector accepted the batch. */
  async #send(): Promise<boolean> {
    const { resource, log } = this.#options;
    const spans = this.#queue.splice(0, maxBatch);
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) log.warn({ dropped }, 'spans dropped: they arrive faster than the collector accepts them');
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
          if (error) log.warn({ reason: error.message, spans: spans.length }, 'spans dropped: delivery failed');
          resolve(!error);
        },
      );
    });
  }
}
