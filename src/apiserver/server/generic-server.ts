import type { AddressInfo } from 'node:net';
import type { FlowControl } from '#apiserver/endpoints/filters/priority-and-fairness';
import type { StorageVersionBarrier } from '#apiserver/endpoints/filters/storage-version-precondition';
import type { Auditing } from '#apiserver/endpoints/filters/audit';
import type { AuthenticationGuard } from '#apiserver/authentication/authentication.guard';
import type { UserInfo } from '#apiserver/request/user-info';
import type { AuthorizationGuard } from '#apiserver/authorization/authorization.guard';
import type { Exchange } from '#apiserver/request/exchange';
import { withMeasurement } from '#apiserver/endpoints/handlers/measurement';
import { respondText } from '#apiserver/endpoints/handlers/responses';
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

/** Where it listens, and how. */
export interface ServingConfig extends Omit<SecureServerOptions, 'stalledMs'> {
  readonly bindAddress: string;
  readonly port: number;
  /** How many threads terminate the connections; 0: the one that serves does. */
  readonly workers?: number | undefined;
}

export interface GenericServerOptions {
  readonly authentication: AuthenticationGuard;
  readonly authorization: AuthorizationGuard;
  readonly auditing: Auditing | undefined;
  readonly flowControl: FlowControl | undefined;
  /** undefined: writes wait for no StorageVersion. */
  readonly storageVersions?: StorageVersionBarrier | undefined;
  readonly metrics: RequestMetrics;
  readonly access: AccessMetrics;
  readonly traces: RequestTraces;
  /** undefined: no collector wants spans. */
  readonly tracer?: Tracer | undefined;
  readonly log: ChainLog & { health(endpoint: string, check: string, error: unknown): void };
  /** undefined: no port; requests come by the in-process transport only. */
  readonly serving: ServingConfig | undefined;
  /** Told when a serving worker has ended of itself, with the reason; it is started anew. */
  readonly onWorkerLoss: (error: Error | undefined) => void;
  readonly shutdown: GracefulShutdownOptions;
  readonly hstsDirectives: readonly string[];
  readonly goawayChance: number;
  readonly requestTimeoutMs: number;
  /** So long /livez takes post-start hooks for finished. */
  readonly livezGraceMs: number;
  readonly corsAllowedOrigins: readonly RE2JS[];
  readonly maxRequestsInFlight: number;
  readonly maxMutatingRequestsInFlight: number;
  /** What runs once no request is left: storage and the like. */
  closeBackends(): Promise<void>;
}

/** The server calls itself in process: there is no certificate that could end. */
const loopbackCertificate: HealthCheck = { name: 'loopback-serving-certificate', check: () => {} };

/**
 * The machinery that the three servers share: chain, director, health, hooks, serving, shutdown. It knows no API group.
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

  /** A condition of /healthz, /livez and /readyz. */
  addHealthCheck(check: HealthCheck): void {
    this.#liveChecks.push(check);
  }

  /** A condition of /readyz alone. */
  addReadyCheck(check: HealthCheck): void {
    this.#readyChecks.push(check);
  }

  /** Where each of the checks answers alone. */
  get healthPaths(): string[] {
    return this.#health.flatMap(({ name, checks }) => checks().map((check) => `/${name}/${check.name}`));
  }

  /** The servers whose resources are served, the first first. May be called again when kinds come or go. */
  delegate(chain: readonly DelegationTarget[]): void {
    this.director.compile(chain);
  }

  /** Serves one request; what every transport calls. Never throws. */
  readonly serve = (exchange: Exchange): void => this.#begin(exchange, undefined);

  /** The same, in process, for a user who is known. */
  readonly serveAs = (exchange: Exchange, user: UserInfo): void => this.#begin(exchange, user);

  #begin(exchange: Exchange, user: UserInfo | undefined): void {
    const question = exchange.url.indexOf('?');
    const rawPath = question < 0 ? exchange.url : exchange.url.slice(0, question);
    const query = question < 0 ? '' : exchange.url.slice(question + 1);
    const path = decodePath(rawPath);
    const context = new RequestContext(exchange, path ?? rawPath, query, unknownInfo);
    if (path === undefined) return respondText(context, 400, '400 Bad Request');
    context.user = user;
    this.options.traces.begin(context);
    void this.#serve(context);
    if (context.longRunning && context.info.verb === 'watch' && !exchange.closed) {
      this.#openWatches.add(exchange);
      exchange.onClose(() => this.#openWatches.delete(exchange));
    }
  }

  /** Listens if there is a port to, then runs the post-start hooks. Rejects if one of them fails. */
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

  /** Where it listens; undefined before it does, and without a port. */
  get address(): AddressInfo | undefined {
    return this.#address;
  }

  reloadCertificates(options: Parameters<SecureServer['reload']>[0]): void {
    this.#secure?.reload(options);
  }

  /** Shuts down as upstream does; the second call waits for the first. */
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
        closeConnections: async () => this.#secure?.close(),
        closeBackends: this.options.closeBackends,
      },
      this.options.shutdown,
    );
    return this.#shutdown;
  }
}

const unknownInfo = nonResource('', '');
