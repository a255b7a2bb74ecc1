import type { AddressInfo } from 'node:net';
import { AdmissionMetrics } from '#apiserver/admission/admission-metrics';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { Metrics } from '#apiserver/base/metrics/metrics';
import { AccessMetrics } from '#apiserver/endpoints/metrics/access-metrics';
import { RequestMetrics } from '#apiserver/endpoints/metrics/request-metrics';
import { registerProcessMetrics } from '#apiserver/base/metrics/process-metrics';
import type { ServiceConnection } from '#apiserver/network/webhook/kubeconfig';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { exceptionGroup } from '#apiserver/plugins/policy/exception-group';
import { ExceptionObjects } from '#apiserver/plugins/policy/exception-objects';
import { ExceptionStatuses } from '#apiserver/plugins/policy/exception-status';
import { systemClock } from '#apiserver/base/clock';
import { installPluginReports } from '#apiserver/server/debugging/plugin-routes';
import { installTraces } from '#apiserver/server/debugging/trace-routes';
import { GenericServer, type ServingConfig } from '#apiserver/server/generic-server';
import { registerEndpointMetrics } from '#apiserver/server/metrics/endpoint-metrics';
import { metricsHandler } from '#apiserver/server/metrics/metrics-endpoint';
import type { ServingCertificate, TlsOptions } from '#apiserver/serving/secure-server';
import { RequestTraces } from '#apiserver/tracing/request-traces';
import type { Log } from '#cmd/logging/log';
import { Contributions } from '#cmd/modules/contributions';
import { refuseUseless } from '#cmd/apis/useless-plugins';
import { everyMetric, type TracingConfig } from '#cmd/server-config';
import { newTracing } from '#cmd/serving/tracing';
import { clusterAuthorizer, clusterGuards } from './cluster/cluster-access.ts';
import { ClusterApi } from './cluster/cluster-api.ts';
import { ClusterInformers } from './cluster/cluster-informers.ts';
import { ClusterKinds } from './cluster/cluster-kinds.ts';
import { ReviewTargets } from './review/review-targets.ts';
import { installReviews } from './review/review-routes.ts';
import { Reviewer } from './review/reviewer.ts';
import { WebhookPlugins } from './webhook-plugins.ts';
import { knownScheme } from '#cmd/apis/known-scheme';
import { webhookServices } from './webhook-services.ts';

/** Port of a webhook server. */
export interface WebhookListener {
  readonly bindAddress: string;
  /** 0: a free port. */
  readonly port: number;
  readonly certificate: ServingCertificate;
}

/** Configuration of a webhook server. */
export interface WebhookConfig {
  readonly connection: ServiceConnection;
  /** Contributions of the configured packages. Only the admission plugins are used. */
  readonly contributions: readonly LoadedContribution[];
  /** Listener; undefined: only in-process reviews are served. */
  readonly listener?: WebhookListener | undefined;
  readonly log: Log;
  /** Identity of this replica in exported spans. */
  readonly id: string;
  readonly tracing?: TracingConfig | undefined;
  /** Time from the signal until the port closes, in which the cluster's servers learn that this replica ends. */
  readonly shutdownDelayMs: number;
  /** Number of the last reviews whose traces are kept. */
  readonly requestTraces?: number | undefined;
}

/** Time within which reviews in flight are answered at the end. The longest timeout of a webhook is 30 s. */
const drainMs = 30_000;
const requestTimeoutMs = 30_000;
const maxInFlight = { readOnly: 400, mutating: 1_000 };

/** A running webhook server. */
export class WebhookServer {
  constructor(
    readonly server: GenericServer,
    readonly api: ClusterApi,
    readonly kinds: ClusterKinds,
    readonly traces: RequestTraces,
    readonly metrics: Metrics,
    private readonly plugins: WebhookPlugins,
    private readonly informers: ClusterInformers,
  ) {}

  /** Listens if a listener is configured, and follows the objects that the plugins requested. /readyz succeeds once they are read. */
  async start(): Promise<AddressInfo | undefined> {
    await this.kinds.start();
    return this.server.start();
  }

  /** Resolves when the informers that the plugins requested have read their objects. */
  whenSynced(): Promise<void> {
    return this.informers.whenSynced();
  }

  /** Throws an Error that names the informers that have not read their objects yet. */
  assertSynced(): void {
    this.informers.assertSynced();
  }

  /** Uses another certificate from the next handshake on. */
  useCertificate(certificate: ServingCertificate): void {
    this.server.reloadCertificates(tlsOptions(certificate));
  }

  /** Applies changed policies and configurations. Throws, and changes nothing, if a plugin cannot be created. */
  reloadPlugins(contributions: readonly LoadedContribution[]): void {
    this.plugins.replace(contributions, () => this.server.requests.earlier());
  }

  /** Answers the requests in flight, then closes everything. */
  stop(): Promise<void> {
    return this.server.shutDown();
  }
}

/** Creates a server. Rejects, and leaves nothing open, if a plugin cannot be created. */
export async function createWebhookServer(config: WebhookConfig): Promise<WebhookServer> {
  const opened = new AsyncDisposableStack();
  try {
    return await assemble(config, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

async function assemble(config: WebhookConfig, opened: AsyncDisposableStack): Promise<WebhookServer> {
  const { log, contributions: loaded } = config;
  const registry = new LimitedRegistry(everyMetric);
  const scheme = knownScheme();
  const contributions = new Contributions(admissionPluginsOf(loaded));
  opened.defer(() => contributions.instances?.[Symbol.asyncDispose]());
  refuseUseless(contributions.all, scheme);
  const api = opened.use(new ClusterApi(config.connection));
  const informers = opened.use(new ClusterInformers(api, scheme, log));
  const kinds = opened.use(new ClusterKinds(api, informers, log));
  const authorizer = clusterAuthorizer(api);
  const ending = new AbortController();
  opened.defer(() => ending.abort());
  const services = webhookServices({ api, informers, kinds, authorizer, scheme, registry, logger: log, shutdown: ending.signal });
  const exceptions = opened.use(
    new ExceptionObjects({ for: ({ resource }) => informers.whereServed({ ...exceptionGroup, resource }) }, log),
  );
  contributions.exceptionObjects = exceptions;
  // Explanations are dry runs, which write nothing.
  if (config.listener) opened.use(new ExceptionStatuses(exceptions, { client: api.client, clock: systemClock, logger: log }));
  const plugins = new WebhookPlugins(services, contributions, new AdmissionMetrics(registry), exceptions);
  const metrics = new RequestMetrics(registry);
  const traces = new RequestTraces(config.requestTraces);
  const tracing = config.tracing && opened.use(await newTracing(config.tracing, log, config.id, undefined, 'kubenest-webhook'));
  const server = new GenericServer({
    ...clusterGuards(api, authorizer, registry),
    auditing: undefined,
    flowControl: undefined,
    metrics,
    access: new AccessMetrics(registry),
    traces,
    tracer: tracing?.tracer,
    log: log.chain,
    serving: config.listener && servingOf(config.listener),
    onWorkerLoss: () => {},
    shutdown: { shutdownDelayMs: config.shutdownDelayMs, sendRetryAfter: false, watchGraceMs: 0, drainMs },
    hstsDirectives: [],
    goawayChance: 0,
    compressesResponses: true,
    limitsUnauthenticatedHttp2: true,
    constrainsImpersonation: true,
    requestTimeoutMs,
    livezGraceMs: 0,
    corsAllowedOrigins: [],
    maxRequestsInFlight: maxInFlight.readOnly,
    maxMutatingRequestsInFlight: maxInFlight.mutating,
    closeBackends: () => opened.disposeAsync(),
  });
  server.addReadyCheck({ name: 'informers', check: () => informers.assertSynced() });
  const targets = new ReviewTargets(scheme, () => plugins.forgetChains());
  installReviews(server.mux, { reviewer: new Reviewer(targets), plugins, assertReady: () => informers.assertSynced() });
  installTraces(server.mux, traces, server.director.notFound);
  installPluginReports(server.mux, () => contributions.reports());
  server.mux.handle('/metrics', metricsHandler(registry));
  registerProcessMetrics(registry);
  registerEndpointMetrics(registry, metrics, []);
  return new WebhookServer(server, api, kinds, traces, services.get<Metrics>(Metrics), plugins, informers);
}

/** Returns the admission plugins of packages, without those that the webhook cannot serve. */
export function admissionPluginsOf(contributions: readonly LoadedContribution[]): LoadedContribution[] {
  return contributions.filter(({ described }) => described.kind === 'AdmissionPlugin');
}

function servingOf({ certificate, bindAddress, port }: WebhookListener): ServingConfig {
  return { ...tlsOptions(certificate), bindAddress, port, disableHttp2: false, maxConcurrentStreams: 250 };
}

function tlsOptions(certificate: ServingCertificate): TlsOptions {
  return { certificate, sniCertificates: [], clientCa: undefined, minVersion: 'TLSv1.2', cipherSuites: [] };
}
