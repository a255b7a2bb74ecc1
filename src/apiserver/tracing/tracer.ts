import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';
import { groupNames } from '#apiserver/authentication/authenticator';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import { requestAttributes, verbAttributes } from './attributes.ts';
import type { SpanMessage } from './otlp-messages.ts';
import { traceIdRatioSampler } from './sampler.ts';
import type { SpanExporter } from './span-exporter.ts';
import { formatTraceParent, parseTraceParent, type SpanContext } from './trace-context.ts';

const kinds = { internal: 1, server: 2 } as const;
const errorStatus = 2;
/** Whose word on what is sampled counts: others would make the server send whatever they like. Upstream: endpoints/filters/traces.go. */
const trusted = new Set<string>([groupNames.privileged, 'system:monitoring']);
const noBytes = Buffer.alloc(0);
/** How upstream's handlers call the spans of the verbs. */
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

/** A request that is sampled. */
export interface RequestSpan {
  /** To be sent with what is asked elsewhere for it, which is a part of the same trace then. */
  readonly headers: Readonly<Record<string, string>>;
  /** The request is answered. */
  end(): void;
}

/**
 * Makes the spans of requests under upstream's names: one of the request, and one of its verb within. A request of a trusted
 * client is part of the trace that it says, sampled as that one is; of others a trace of their own begins, which is linked to it.
 *
 * | client  | traceparent | sampled          | parent     |
 * |---------|-------------|------------------|------------|
 * | trusted | yes         | as it says       | what it says |
 * | trusted | no          | a part of all    | none       |
 * | other   | any         | a part of all    | none       |
 */
export class Tracer {
  readonly #exporter: Pick<SpanExporter, 'add'>;
  readonly #samples: (traceId: Buffer) => boolean;

  constructor(exporter: Pick<SpanExporter, 'add'>, samplingRatePerMillion: number) {
    this.#exporter = exporter;
    this.#samples = traceIdRatioSampler(samplingRatePerMillion);
  }

  /** undefined where it is not sampled. */
  begin(context: RequestContext): RequestSpan | undefined {
    const remote = parseTraceParent(context.header('traceparent'), context.header('tracestate'));
    const parent = remote && context.user?.groups?.some((group) => trusted.has(group)) ? remote : undefined;
    if (parent && !parent.isSampled) return undefined;
    const traceId = parent?.traceId ?? randomId(16);
    if (!parent && !this.#samples(traceId)) return undefined;
    const own: SpanContext = { traceId, spanId: randomId(8), isSampled: true, traceState: parent?.traceState ?? '' };
    return {
      headers: { traceparent: formatTraceParent(own), ...(own.traceState !== '' && { tracestate: own.traceState }) },
      end: () => this.#exporter.add(spansOf(context, own, parent, parent ? undefined : remote)),
    };
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
    links: linked ? [linked] : [],
    status: status >= 500 ? { message: '', code: errorStatus } : undefined,
  };
  const handled = marks.at(-1) ?? 0;
  const name = info.isResourceRequest ? verbSpans[info.verb] : undefined;
  if (handled === 0 || name === undefined) return [request];
  const verb: SpanMessage = {
    ...common,
    spanId: randomId(8),
    parentSpanId: own.spanId,
    name,
    kind: kinds.internal,
    startTimeUnixNano: unixNano(handled),
    attributes: verbAttributes(context) as never,
    links: [],
    status: undefined,
  };
  return [request, verb];
}

/** The wall clock's nanoseconds, exact to the microsecond, of a time of the monotonic clock. */
function unixNano(at: number): bigint {
  return BigInt(Math.round((Date.now() - performance.now() + at) * 1_000)) * 1_000n;
}

/** Upstream: endpoints/filters/traces.go (getSpanNameFromRequestInfo). */
function spanName({ method, info }: RequestContext): string {
  if (!info.isResourceRequest) return method;
  const group = info.apiGroup === '' ? '' : `/${info.apiGroup}`;
  const namespace = info.namespace === '' ? '' : '/namespaces/{:namespace}';
  const name = info.name === '' ? '' : '/{:name}';
  const subresource = info.subresource === '' ? '' : `/${info.subresource}`;
  return `${method} /${info.apiPrefix}${group}/${info.apiVersion}${namespace}/${info.resource}${name}${subresource}`;
}
