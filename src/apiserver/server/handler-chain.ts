import { type Auditing, withAudit, withAuditAnnotations } from '#apiserver/endpoints/filters/audit';
import { withAuditId } from '#apiserver/endpoints/filters/audit-id';
import { withAuthentication } from '#apiserver/endpoints/filters/authentication';
import { withAuthorization } from '#apiserver/endpoints/filters/authorization';
import { withCacheControl } from '#apiserver/endpoints/filters/cache-control';
import { withCORS } from '#apiserver/endpoints/filters/cors';
import { withHSTS } from '#apiserver/endpoints/filters/hsts';
import { withHTTPLogging } from '#apiserver/endpoints/filters/http-logging';
import { withImpersonation } from '#apiserver/endpoints/filters/impersonation';
import { withLatencyTrackers } from '#apiserver/endpoints/filters/latency-trackers';
import { withMaxInFlight } from '#apiserver/endpoints/filters/max-in-flight';
import { withMuxAndDiscoveryComplete } from '#apiserver/endpoints/filters/mux-and-discovery-complete';
import { withPanicRecovery } from '#apiserver/endpoints/filters/panic-recovery';
import { type FlowControl, withPriorityAndFairness } from '#apiserver/endpoints/filters/priority-and-fairness';
import { withProbabilisticGoaway } from '#apiserver/endpoints/filters/probabilistic-goaway';
import { withRequestDeadline } from '#apiserver/endpoints/filters/request-deadline';
import { withRequestInfo } from '#apiserver/endpoints/filters/request-info';
import { withRequestReceivedTimestamp } from '#apiserver/endpoints/filters/request-received-timestamp';
import { withRetryAfter } from '#apiserver/endpoints/filters/retry-after';
import { type StorageVersionBarrier, withStorageVersionPrecondition } from '#apiserver/endpoints/filters/storage-version-precondition';
import { withTimeoutForNonLongRunning } from '#apiserver/endpoints/filters/timeout';
import { withTracing } from '#apiserver/endpoints/filters/tracing';
import { withWaitGroup } from '#apiserver/endpoints/filters/wait-group';
import { withWarningRecorder } from '#apiserver/endpoints/filters/warning-recorder';
import { withWatchTermination } from '#apiserver/endpoints/filters/watch-termination';
import type { AuthenticationGuard } from '#apiserver/authentication/authentication.guard';
import type { AuthorizationGuard } from '#apiserver/authorization/authorization.guard';
import type { Filter, Handler, RequestContext } from '#apiserver/request/request-context';
import type { RequestTraces } from '#apiserver/tracing/request-traces';
import type { Tracer } from '#apiserver/tracing/tracer';
import type { RE2JS } from 're2js';
import type { LifecycleSignals } from './lifecycle/signals.ts';
import type { WaitGroup } from '#apiserver/base/wait-group';
import type { AccessMetrics } from '#apiserver/endpoints/metrics/access-metrics';
import type { RequestMetrics } from '#apiserver/endpoints/metrics/request-metrics';

/** Log events of the handler chain. */
export interface ChainLog {
  panic(error: unknown, context: RequestContext): void;
  authenticationFailed(context: RequestContext, error: unknown): void;
  /** True if each request is logged; may change at run time. */
  readonly logsRequests: boolean;
  request(context: RequestContext, milliseconds: number): void;
  /** Logs a request that took longer than half a second, with its latency marks. */
  slow(context: RequestContext, milliseconds: number): void;
}

export interface HandlerChainOptions {
  readonly log: ChainLog;
  readonly metrics: RequestMetrics;
  readonly access: AccessMetrics;
  readonly traces: RequestTraces;
  /** Tracer of spans; undefined: tracing is off. */
  readonly tracer?: Tracer | undefined;
  readonly signals: LifecycleSignals;
  readonly requests: WaitGroup;
  readonly watches: WaitGroup;
  /** Requests that came before all paths were installed. */
  readonly incomplete: WeakSet<RequestContext>;
  readonly authentication: AuthenticationGuard;
  readonly authorization: AuthorizationGuard;
  /** Auditing; undefined: off. */
  readonly auditing: Auditing | undefined;
  /** Flow control; undefined: requests are limited by their number only. */
  readonly flowControl: FlowControl | undefined;
  /** Barrier of writes; undefined: writes do not wait for StorageVersions. */
  readonly storageVersions?: StorageVersionBarrier | undefined;
  readonly sendRetryAfter: boolean;
  /** Feature gate UnauthenticatedHTTP2DOSMitigation. */
  readonly limitsUnauthenticatedHttp2: boolean;
  /** Feature gate ConstrainedImpersonation. */
  readonly constrainsImpersonation: boolean;
  readonly hstsDirectives: readonly string[];
  readonly goawayChance: number;
  readonly requestTimeoutMs: number;
  readonly corsAllowedOrigins: readonly RE2JS[];
  readonly maxRequestsInFlight: number;
  readonly maxMutatingRequestsInFlight: number;
}

export interface NamedFilter {
  readonly name: string;
  readonly filter: Filter;
}

/**
 * Returns the filters in the order in which they run. Names and order are upstream's: apiserver/pkg/server/config.go
 * (DefaultBuildHandlerChain).
 */
export function handlerChain(options: HandlerChainOptions): readonly NamedFilter[] {
  const { signals, log, storageVersions } = options;
  return [
    { name: 'AuditID', filter: withAuditId },
    { name: 'PanicRecovery', filter: withPanicRecovery(log.panic) },
    { name: 'MuxAndDiscoveryComplete', filter: withMuxAndDiscoveryComplete(signals.muxAndDiscoveryComplete, options.incomplete) },
    { name: 'RequestReceivedTimestamp', filter: withRequestReceivedTimestamp },
    { name: 'RequestInfo', filter: withRequestInfo },
    { name: 'LatencyTrackers', filter: withLatencyTrackers(options.metrics) },
    { name: 'HTTPLogging', filter: withHTTPLogging(log) },
    { name: 'RetryAfter', filter: options.sendRetryAfter ? withRetryAfter(signals.notAcceptingNewRequest) : (next) => next },
    { name: 'HSTS', filter: withHSTS(options.hstsDirectives) },
    { name: 'CacheControl', filter: withCacheControl },
    { name: 'AuditAnnotations', filter: withAuditAnnotations(options.auditing) },
    { name: 'ProbabilisticGoaway', filter: withProbabilisticGoaway(options.goawayChance) },
    { name: 'WatchTermination', filter: withWatchTermination(options.watches) },
    { name: 'WaitGroup', filter: withWaitGroup(options.requests) },
    { name: 'RequestDeadline', filter: withRequestDeadline(options.requestTimeoutMs) },
    { name: 'TimeoutForNonLongRunning', filter: withTimeoutForNonLongRunning(options.metrics.terminated) },
    { name: 'Warnings', filter: withWarningRecorder },
    { name: 'CORS', filter: withCORS(options.corsAllowedOrigins) },
    {
      name: 'Authentication',
      filter: withAuthentication({
        guard: options.authentication,
        onFailure: log.authenticationFailed,
        auditing: options.auditing,
        metrics: options.access,
        limitsHttp2: options.limitsUnauthenticatedHttp2,
      }),
    },
    { name: 'Tracing', filter: withTracing(log.slow, options.tracer) },
    { name: 'Audit', filter: withAudit(options.auditing) },
    { name: 'Impersonation', filter: withImpersonation(options.authorization.authorizer, options.constrainsImpersonation) },
    options.flowControl
      ? {
          name: 'PriorityAndFairness',
          filter: withPriorityAndFairness(options.flowControl, options.requestTimeoutMs, options.metrics.inFlight),
        }
      : {
          name: 'MaxInFlight',
          filter: withMaxInFlight(
            { readOnly: options.maxRequestsInFlight, mutating: options.maxMutatingRequestsInFlight },
            options.metrics.inFlight,
          ),
        },
    { name: 'Authorization', filter: withAuthorization(options.authorization, options.traces, options.access) },
    ...(storageVersions ? [{ name: 'StorageVersionPrecondition', filter: withStorageVersionPrecondition(storageVersions) }] : []),
  ];
}

/** Stages that can take long. The time at which a request reaches each is stored in its `marks`, for the log of slow requests. */
export const latencyMarks = ['Authentication', 'Audit', 'Impersonation', 'PriorityAndFairness', 'Authorization', 'handler'] as const;

/** Composes the chain around the handler, once at start. */
export function composeHandlerChain(chain: readonly NamedFilter[], handler: Handler): Handler {
  return chain.reduceRight((next, { name, filter }) => marked(name, filter(next)), marked('handler', handler));
}

function marked(name: string, handler: Handler): Handler {
  const index = (latencyMarks as readonly string[]).indexOf(name);
  if (index < 0) return handler;
  return (context) => {
    context.marks[index] = performance.now();
    return handler(context);
  };
}

/** Returns the milliseconds from the receipt of the request to each stage. */
export function latenciesOf({ marks, receivedAt }: RequestContext): Record<string, number> {
  return Object.fromEntries(
    latencyMarks.flatMap((name, index) => (marks[index] ? [[name, Math.round((marks[index] - receivedAt) * 10) / 10]] : [])),
  );
}
