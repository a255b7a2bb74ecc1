import type { AddressInfo } from 'node:net';
import type { FlowControl } from '#apiserver/endpoints/filters/priority-and-fairness';
import type { StorageVersionBarrier } from '#apiserver/endpoints/filters/storage-version-precondition';
import type { Auditing } from '#apiserver/endpoints/filters/audit';
import type { AuthenticationGuard } from '#apiserver/authentication/authentication.guard';
import type { UserInfo } from '#apiserver/request/user-info';
import type { AuthorizationGuard } from '#apiserver/authorization/authorization.guard';
import type { Exchange } from '#apiserver/request/exchange';
import { withMeasurement } from '#apiserver/endpoints/handlers/measurement';
import { respondBytes } from '#apiserver/endpoints/handlers/responses';
import { decodePath } from '#apiserver/request/path';
import { type Handler, RequestContext } from '#apiserver/request/request-context';
import { nonResource } from '#apiserver/request/request-info';
import type { RE2JS } from 're2js';
import type { DelegationTarget } from './delegation.ts';
import { Director } from './director.ts';
import { type ChainLog, composeHandlerChain, handlerChain, type NamedFilter } from './handler-chain.ts';
import { HealthIndicators } from './healthz/health-indicators.ts';
import { inUpstreamOrder } from './healthz/check-order.ts';
import { type HealthCheck, HealthEndpoint } from './healthz/health-checks.ts';
import { type GracefulShutdownOptions, shutDownGracefully } from './lifecycle/graceful-shutdown.ts';
import { Hooks } from './lifecycle/hooks.ts';
import { LifecycleSignals } from './lifecycle/signals.ts';
import { WaitGroup } from '#apiserver/base/wait-group';
import type { AccessMetrics } from '#apiserver/endpoints/metrics/access-metrics';
import type { RequestMetrics } from '#apiserver/endpoints/metrics/request-metrics';
import type { RequestTraces } from '#apiserver/tracing/request-traces';
import type { Tracer } from '#apiserver/tracing/tracer';
import { PathMux } from '#apiserver/endpoints/path-mux';
import { SecureServer, type SecureServerOptions } from '#apiserver/serving/secure-server';
import { ServingWorkers } from '#apiserver/serving/workers/serving-workers';

/** Options of the listener. */
export interface ServingConfig extends Omit<SecureServerOptions, 'stalledMs'> {
  readonly bindAddress: string;
  readonly port: number;
  /** Number of threads that terminate connections; 0: the serving thread terminates them. */
  readonly workers?: number | undefined;
}

export interface GenericServerOptions {
  readonly authentication: AuthenticationGuard;
  readonly authorization: AuthorizationGuard;
  readonly auditing: Auditing | undefined;
  readonly flowControl: FlowControl | undefined;
  /** Barrier of writes; undefined: writes do not wait for StorageVersions. */
  readonly storageVersions?: StorageVersionBarrier | undefined;
  readonly metrics: RequestMetrics;
  readonly access: AccessMetrics;
  readonly traces: RequestTraces;
  /** Tracer of spans; undefined: tracing is off. */
  readonly tracer?: Tracer | undefined;
  readonly log: ChainLog & { health(endpoint: string, check: string, error: unknown): void };
  /** Options of the port; undefined: only in-process requests are served. */
  readonly serving: ServingConfig | undefined;
  /** Called with the reason when a serving worker exits unexpectedly; the worker is restarted. */
  readonly onWorkerLoss: (error: Error | undefined) => void;
  readonly shutdown: GracefulShutdownOptions;
  readonly hstsDirectives: readonly string[];
  readonly goawayChance: number;
  /** Feature gate UnauthenticatedHTTP2DOSMitigation. */
  readonly limitsUnauthenticatedHttp2: boolean;
  /** Feature gate ConstrainedImpersonation. */
  readonly constrainsImpersonation: boolean;
  /** Feature gate APIResponseCompression. */
  readonly compressesResponses: boolean;
  readonly requestTimeoutMs: number;
  /** Grace period during which /livez treats post-start hooks as finished. */
  readonly livezGraceMs: number;
  readonly corsAllowedOrigins: readonly RE2JS[];
  readonly maxRequestsInFlight: number;
  readonly maxMutatingRequestsInFlight: number;
  /** Closes storage and other backends after the last request. */
  closeBackends(): Promise<void>;
}

/** Always healthy: the server calls itself in process, without a certificate that could expire. */
const loopbackCertificate: HealthCheck = { name: 'loopback-serving-certificate', check: () => {} };

/**
 * The parts that the three servers share: chain, director, health checks, hooks, serving, shutdown. It knows no API group.
 * Upstream: apiserver/pkg/server/genericapiserver.go.
 */
export class GenericServer {
  readonly signals = new LifecycleSignals();
  readonly hooks = new Hooks();
  readonly mux = new PathMux();
  readonly director: Director;
  readonly requests = new WaitGroup();
  readonly watches = new WaitGroup();
  readonly indicators = new HealthIndicators();
  readonly chain: readonly NamedFilter[];
  readonly #serve: Handler;
  readonly #liveChecks: HealthCheck[] = [
    { name: 'ping', check: () => {} },
    { name: 'log', check: () => {} },
  ];
  readonly #readyChecks: HealthCheck[] = [];
  readonly #health: HealthEndpoint[] = [];
  readonly #openWatches = new Set<Exchange>();
  readonly #hookAbort = new AbortController();
  #secure: SecureServer | ServingWorkers | undefined;
  #address: AddressInfo | undefined;
  #shutdown: Promise<void> | undefined;

  constructor(readonly options: GenericServerOptions) {
    const { serving, requestTimeoutMs: stalledMs } = options;
    if (serving?.workers)
      this.#secure = new ServingWorkers({ ...serving, stalledMs, workers: serving.workers }, this.serve, options.onWorkerLoss, () =>
        options.access.handshakeFailed(),
      );
    const incomplete = new WeakSet<RequestContext>();
    this.director = new Director(this.mux, incomplete);
    this.chain = handlerChain({
      ...options,
      signals: this.signals,
      requests: this.requests,
      watches: this.watches,
      incomplete,
      sendRetryAfter: options.shutdown.sendRetryAfter,
    });
    this.#serve = composeHandlerChain(this.chain, this.director.serve);
    const health = (name: string, checks: () => readonly HealthCheck[], onHealthy?: () => void): void => {
      const endpoint = new HealthEndpoint(name, () => inUpstreamOrder(checks()), options.log.health, onHealthy, this.indicators.observe);
      this.#health.push(endpoint);
      const serve: Handler = async (context) => {
        if (!(await endpoint.serve(context))) await this.mux.serve(context, this.director.notFound);
      };
      this.mux.handle(`/${name}`, withMeasurement(`/${name}`, '', serve));
      this.mux.handlePrefix(`/${name}/`, async (context) => {
        if (!(await endpoint.serve(context))) await this.director.notFound(context);
      });
    };
    health('healthz', () => [...this.#liveChecks, loopbackCertificate, ...this.hooks.checks]);
    const graceEnds = performance.now() + options.livezGraceMs;
    health('livez', () => {
      const isOver = performance.now() >= graceEnds;
      return [...this.#liveChecks, loopbackCertificate, ...this.hooks.checks.map((hook) => (isOver ? hook : { ...hook, check: () => {} }))];
    });
    health(
      'readyz',
      () => [...this.#liveChecks, ...this.#readyChecks, ...this.hooks.checks, this.#shutdownCheck],
      () => this.signals.hasBeenReady.fire(),
    );
  }

  readonly #shutdownCheck: HealthCheck = {
    name: 'shutdown',
    check: () => {
      if (this.signals.shutdownInitiated.fired) throw new Error('process is shutting down');
    },
  };

  /** Adds a check to /healthz, /livez and /readyz. */
  addHealthCheck(check: HealthCheck): void {
    this.#liveChecks.push(check);
  }

  /** Adds a check to /readyz only. */
  addReadyCheck(check: HealthCheck): void {
    this.#readyChecks.push(check);
  }

  /** Paths of the individual health checks. */
  get healthPaths(): string[] {
    return this.#health.flatMap(({ name, checks }) => checks().map((check) => `/${name}/${check.name}`));
  }

  /** Sets the servers of the delegation chain, the first one first. Called again when kinds change. */
  delegate(chain: readonly DelegationTarget[]): void {
    this.director.compile(chain);
  }

  /** Serves one request of any transport. Never throws. */
  readonly serve = (exchange: Exchange): void => this.#begin(exchange, undefined);

  /** Serves one in-process request of an authenticated user. Never throws. */
  readonly serveAs = (exchange: Exchange, user: UserInfo): void => this.#begin(exchange, user);

  #begin(exchange: Exchange, user: UserInfo | undefined): void {
    const question = exchange.url.indexOf('?');
    const rawPath = question < 0 ? exchange.url : exchange.url.slice(0, question);
    const query = question < 0 ? '' : exchange.url.slice(question + 1);
    const path = decodePath(rawPath);
    const context = new RequestContext(exchange, path ?? rawPath, query, unknownInfo);
    // As Go's server: plain text without a line end.
    if (path === undefined) return respondBytes(context, 400, 'text/plain; charset=utf-8', Buffer.from('400 Bad Request'));
    context.user = user;
    context.compresses = this.options.compressesResponses;
    this.options.traces.begin(context);
    void this.#serve(context);
    if (context.longRunning && context.info.verb === 'watch' && !exchange.closed) {
      this.#openWatches.add(exchange);
      exchange.onClose(() => this.#openWatches.delete(exchange));
    }
  }

  /** Listens if a port is configured, then runs the post-start hooks. Rejects if one of them fails. */
  async start(): Promise<AddressInfo | undefined> {
    const { serving } = this.options;
    this.signals.muxAndDiscoveryComplete.fire();
    if (serving) {
      const { requestTimeoutMs: stalledMs, access } = this.options;
      this.#secure ??= new SecureServer({ ...serving, stalledMs }, this.serve, { onHandshakeError: () => access.handshakeFailed() });
      this.#address = await this.#secure.listen(serving.port, serving.bindAddress);
    }
    await this.hooks.runPostStart(this.#hookAbort.signal);
    return this.#address;
  }

  /** Address of the listener; undefined without a port and before it listens. */
  get address(): AddressInfo | undefined {
    return this.#address;
  }

  reloadCertificates(options: Parameters<SecureServer['reload']>[0]): void {
    this.#secure?.reload(options);
  }

  /** Shuts down as upstream does. Further calls return when the first is done. */
  shutDown(): Promise<void> {
    this.#shutdown ??= shutDownGracefully(
      {
        signals: this.signals,
        requests: this.requests,
        watches: this.watches,
        terminateWatches: (fraction) => {
          let left = Math.ceil(this.#openWatches.size * fraction);
          for (const exchange of this.#openWatches) {
            if (left-- <= 0) return;
            exchange.endResponse();
          }
        },
        runPreShutdownHooks: async () => {
          this.#hookAbort.abort();
          await this.hooks.runPreShutdown();
        },
        stopListening: () => this.#secure?.stopListening(),
        connectionsSettled: async () => this.#secure?.settled(),
        closeConnections: async () => this.#secure?.close(),
        closeBackends: this.options.closeBackends,
      },
      this.options.shutdown,
    );
    return this.#shutdown;
  }
}

const unknownInfo = nonResource('', '');
