/** Starts a collector of OpenTelemetry traces for one test: OTLP over gRPC, on a free port. */
import { Server, ServerCredentials, type handleUnaryCall } from '@grpc/grpc-js';
import { exportTraceServiceRequest, exportTraceServiceResponse } from '#apiserver/tracing/otlp-messages';

/** A span for comparison in tests, with ids in hex. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly links: readonly string[];
  /** Events in order of arrival: the name, with its attributes if there are any. */
  readonly events: readonly (readonly [name: string, attributes?: Readonly<Record<string, string | number>>])[];
  readonly status: number;
  readonly milliseconds: number;
  readonly resource: Readonly<Record<string, string | number>>;
}

export interface TraceCollector extends AsyncDisposable {
  readonly endpoint: string;
  readonly spans: ReceivedSpan[];
}

type Request = ReturnType<typeof exportTraceServiceRequest.decode>;
type Attributes = readonly {
  readonly key?: string;
  readonly value?: { readonly stringValue?: string; readonly intValue?: number | undefined } | undefined;
}[];

function attributesOf(attributes: Attributes = []): Record<string, string | number> {
  return Object.fromEntries(attributes.map(({ key = '', value }) => [key, value?.intValue ?? value?.stringValue ?? '']));
}

function spansOf({ resourceSpans }: Request): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: span.traceId.toString('hex'),
        spanId: span.spanId.toString('hex'),
        parentSpanId: span.parentSpanId.toString('hex'),
        name: span.name,
        kind: span.kind ?? 0,
        attributes: attributesOf(span.attributes),
        links: span.links.map(({ traceId, spanId }) => `${traceId.toString('hex')}-${spanId.toString('hex')}`),
        events: span.events.map(({ name, attributes }) => (attributes.length > 0 ? [name, attributesOf(attributes)] : [name])),
        status: span.status?.code ?? 0,
        milliseconds: Number(span.endTimeUnixNano - span.startTimeUnixNano) / 1e6,
        resource: attributesOf(resource?.attributes),
      })),
    ),
  );
}

export async function startTraceCollector(listen = '127.0.0.1:0'): Promise<TraceCollector> {
  const server = new Server();
  const spans: ReceivedSpan[] = [];
  const handle: handleUnaryCall<Request, object> = ({ request }, callback) => {
    spans.push(...spansOf(request));
    callback(null, {});
  };
  server.register(
    '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
    handle,
    (answer: object) => exportTraceServiceResponse.encode(answer),
    (message: Buffer) => exportTraceServiceRequest.decode(message),
    'unary',
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(listen, ServerCredentials.createInsecure(), (error, bound) => (error ? reject(error) : resolve(bound))),
  );
  return {
    endpoint: `127.0.0.1:${port}`,
    spans,
    async [Symbol.asyncDispose]() {
      server.forceShutdown();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
