import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';
import { groupNames } from '#apiserver/request/user-info';
import type { RequestContext } from '#apiserver/request/request-context';
import type { Attribute, RequestSpan, AddEvent } from '#apiserver/request/request-span';
import { keyValues, requestAttributes, verbAttributes } from './attributes.ts';
import type { KeyValue, SpanMessage } from './otlp-messages.ts';
import { traceIdRatioSampler } from './sampler.ts';
import type { SpanExporter } from './span-exporter.ts';
import { formatTraceParent, parseTraceParent, type SpanContext } from './trace-context.ts';

const kinds = { internal: 1, server: 2 } as const;
const errorStatus = 2;
/**
 * Groups whose sampling decision is trusted; other clients could make the server send any number of spans. Upstream:
 * endpoints/filters/traces.go.
 */
const trusted = new Set<string>([groupNames.privileged, 'system:monitoring']);
/** Maximum number of child spans of a request. */
const maxParts = 128;
/** Maximum number of events of a span. */
const maxEvents = 128;
const noBytes = Buffer.alloc(0);
/** Names of the verb spans in upstream's handlers. */
const verbSpans: Readonly<Record<string, string>> = {
  get: 'Get',
  list: 'List',
  watch: 'WatchServer.HandleHTTP',
  create: 'Create',
  update: 'Update',
  patch: 'Patch',
  delete: 'Delete',
  deletecollection: 'Delete',
};

interface SpanEvent {
  readonly name: string;
  readonly attributes: readonly Attribute[];
  /** Monotonic time. */
  readonly at: number;
}

/** Names of the filter spans in upstream, after that of authentication; each is a child of the previous one. */
const filterSpans = ['audit', 'constrainedimpersonation', 'priorityandfairness', 'authorization'] as const;

/**
 * Creates the spans of requests under upstream's names: one of the request, its child for the verb, and below it those of
 * the caches, the store, the encoding and the webhooks. A request of a trusted client continues the client's trace with its
 * sampling decision; other requests start a new trace, linked to the client's.
 *
 * | client  | traceparent | sampled              | parent            |
 * |---------|-------------|----------------------|-------------------|
 * | trusted | yes         | as in traceparent    | as in traceparent |
 * | trusted | no          | at the sampling rate | none              |
 * | other   | any         | at the sampling rate | none              |
 */
export class Tracer {
  readonly #exporter: Pick<SpanExporter, 'add'>;
  readonly #samples: (traceId: Buffer) => boolean;

  constructor(exporter: Pick<SpanExporter, 'add'>, samplingRatePerMillion: number) {
    this.#exporter = exporter;
    this.#samples = traceIdRatioSampler(samplingRatePerMillion);
  }

  /** Returns undefined if the request is not sampled. */
  begin(context: RequestContext): RequestSpan | undefined {
    const remote = parseTraceParent(context.header('traceparent'), context.header('tracestate'));
    const parent = remote && context.user?.groups?.some((group) => trusted.has(group)) ? remote : undefined;
    if (parent && !parent.isSampled) return undefined;
    const traceId = parent?.traceId ?? randomId(16);
    if (!parent && !this.#samples(traceId)) return undefined;
    const own: SpanContext = { traceId, spanId: randomId(8), isSampled: true, traceState: parent?.traceState ?? '' };
    return new SampledRequest(context, own, (parts, events) =>
      this.#exporter.add(spansOf(context, own, parent, parent ? undefined : remote, parts, events)),
    );
  }
}

/** A part of the work on a request, with monotonic times. */
interface Part {
  readonly name: string;
  readonly attributes: readonly Attribute[];
  readonly from: number;
  /** End of the part; undefined while it runs. */
  to: number | undefined;
  readonly events: SpanEvent[];
}

/** Returns a recorder for the events of a span. */
function recorderOf(events: SpanEvent[]): AddEvent {
  return (name, attributes = []) => {
    if (events.length < maxEvents) events.push({ name, attributes, at: performance.now() });
  };
}

class SampledRequest implements RequestSpan {
  readonly headers: Readonly<Record<string, string>>;
  readonly #parts: Part[] = [];
  readonly #events: SpanEvent[] = [];
  readonly event = recorderOf(this.#events);

  constructor(
    private readonly context: RequestContext,
    own: SpanContext,
    private readonly onEnd: (parts: readonly Part[], events: readonly SpanEvent[]) => void,
  ) {
    this.headers = { traceparent: formatTraceParent(own), ...(own.traceState !== '' && { tracestate: own.traceState }) };
  }

  around<T>(name: string, attributes: readonly Attribute[], work: (addEvent: AddEvent) => T): T {
    const part: Part = {
      name,
      attributes: [['audit-id', this.context.auditId], ...attributes],
      from: performance.now(),
      to: undefined,
      events: [],
    };
    if (this.#parts.length < maxParts) this.#parts.push(part);
    const over = (): void => {
      part.to = performance.now();
    };
    let result: T;
    try {
      result = work(recorderOf(part.events));
    } catch (error) {
      over();
      throw error;
    }
    if (result instanceof Promise) return result.finally(over) as T;
    over();
    return result;
  }

  end(): void {
    this.onEnd(this.#parts, this.#events);
  }
}

function randomId(bytes: number): Buffer {
  return randomFillSync(Buffer.allocUnsafeSlow(bytes));
}

function spansOf(
  context: RequestContext,
  own: SpanContext,
  parent: SpanContext | undefined,
  linked: SpanContext | undefined,
  parts: readonly Part[],
  events: readonly SpanEvent[],
): SpanMessage[] {
  const { receivedAt, marks, status, info } = context;
  const end = performance.now();
  const common = { traceId: own.traceId, traceState: own.traceState, endTimeUnixNano: unixNano(end) };
  const request: SpanMessage = {
    ...common,
    spanId: own.spanId,
    parentSpanId: parent?.spanId ?? noBytes,
    name: spanName(context),
    kind: kinds.server,
    startTimeUnixNano: unixNano(receivedAt),
    attributes: requestAttributes(context) as never,
    events: [],
    links: linked ? [linked] : [],
    status: status >= 500 ? { message: '', code: errorStatus } : undefined,
  };
  const within = (
    name: string,
    parentSpanId: Buffer,
    from: number,
    to: number,
    attributes: readonly KeyValue[],
    spanEvents: readonly SpanEvent[],
  ): SpanMessage => ({
    ...common,
    spanId: randomId(8),
    parentSpanId,
    name,
    kind: kinds.internal,
    startTimeUnixNano: unixNano(from),
    endTimeUnixNano: unixNano(to),
    attributes: attributes as never,
    events: spanEvents.map((one) => ({ timeUnixNano: unixNano(one.at), name: one.name, attributes: keyValues(one.attributes) as never })),
    links: [],
    status: undefined,
  });
  const handled = marks.at(-1) ?? 0;
  let above = own.spanId;
  const filters: SpanMessage[] = [];
  for (const [at, name] of filterSpans.entries()) {
    const from = marks[at + 1] ?? 0;
    if (from === 0) continue;
    const span = within(name, above, from, marks.slice(at + 2).find((next) => next !== 0) ?? end, [], []);
    filters.push(span);
    above = span.spanId;
  }
  const name = info.isResourceRequest ? verbSpans[info.verb] : undefined;
  const verb = handled !== 0 && name !== undefined ? [within(name, above, handled, end, verbAttributes(context), events)] : [];
  above = verb[0]?.spanId ?? above;
  return [
    request,
    ...filters,
    ...verb,
    ...parts.map((part) => within(part.name, above, part.from, part.to ?? end, keyValues(part.attributes), part.events)),
  ];
}

/** Converts a monotonic time to Unix nanoseconds with microsecond precision. */
function unixNano(at: number): bigint {
  return BigInt(Math.round((Date.now() - performance.now() + at) * 1_000)) * 1_000n;
}

/** Returns the span name of a request. Upstream: endpoints/filters/traces.go (getSpanNameFromRequestInfo). */
function spanName({ method, info }: RequestContext): string {
  if (!info.isResourceRequest) return method;
  const group = info.apiGroup === '' ? '' : `/${info.apiGroup}`;
  const namespace = info.namespace === '' ? '' : '/namespaces/{:namespace}';
  const name = info.name === '' ? '' : '/{:name}';
  const subresource = info.subresource === '' ? '' : `/${info.subresource}`;
  return `${method} /${info.apiPrefix}${group}/${info.apiVersion}${namespace}/${info.resource}${name}${subresource}`;
}
