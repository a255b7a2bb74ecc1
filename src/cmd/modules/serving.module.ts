import { type DynamicModule, Inject, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { APP_FILTER, DiscoveryModule, DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import { AuthenticationGuard } from '#apiserver/authentication/authentication.guard';
import { AuthorizationGuard } from '#apiserver/authorization/authorization.guard';
import { registerCelDurations } from '#apiserver/cel/cel-durations';
import { StatusErrorFilter } from '#apiserver/endpoints/status-error.filter';
import { Scheme } from '#apiserver/registry/scheme';
import { FeatureGates } from '#apiserver/base/feature-gates';
import { GenericServer } from '#apiserver/server/generic-server';
import { AccessMetrics } from '#apiserver/endpoints/metrics/access-metrics';
import { registerEndpointMetrics } from '#apiserver/server/metrics/endpoint-metrics';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { RequestMetrics } from '#apiserver/endpoints/metrics/request-metrics';
import type { TraceDocument } from '#apiserver/request/request-trace';
import { RequestTraces } from '#apiserver/tracing/request-traces';
import { installPluginReports } from '#apiserver/server/debugging/plugin-routes';
import { installTraces } from '#apiserver/server/debugging/trace-routes';
import { ApiServers } from '#cmd/apis/api-servers';
import { Log } from '#cmd/logging/log';
import { warnOfExcessWorkers, workerLossListener } from '#cmd/logging/worker-logs';
import type { ServerConfig } from '#cmd/server-config';
import { ConfiguredAuditing } from '#cmd/serving/auditing';
import { registerBuildMetrics } from '#cmd/serving/build-metrics';
import { ClientTrust } from '#cmd/serving/client-trust';
import { bridgeExpress } from '#cmd/serving/express-bridge';
import { RunningFlowControl } from '#cmd/serving/flow-control';
import type { AddressConfig } from '#cmd/serving/external-address';
import { installNonResourceRoutes, Published } from '#cmd/serving/non-resource-routes';
import { Tracing } from '#cmd/serving/tracing';
import { ownVersion, versionInfo } from '#cmd/version';
import { StorageVersions } from '#kubernetes/controlplane/storage-versions';
import { Contributions } from './contributions.ts';
import { Lifetime } from './lifetime.ts';
import { serverPartsOf } from './server-part.ts';

export type ServingModuleConfig = AddressConfig &
  Pick<ServerConfig, 'serving' | 'requests' | 'shutdown' | 'livezGraceMs' | 'emulation' | 'debugging'>;

interface ServerDependencies {
  readonly authentication: AuthenticationGuard;
  readonly authorization: AuthorizationGuard;
  readonly metrics: RequestMetrics;
  readonly traces: RequestTraces;
  readonly log: Log;
  readonly registry: LimitedRegistry;
  readonly trust: ClientTrust;
  readonly features: FeatureGates;
  readonly lifetime: Lifetime;
  readonly auditing: ConfiguredAuditing;
  readonly flowControl: RunningFlowControl | undefined;
  readonly tracing: Tracing | undefined;
  readonly storageVersions: StorageVersions | undefined;
}

/** The server: handler chain, director, listeners, health, and the non-resource paths. It installs the parts of other modules. */
@Module({})
export class ServingModule implements OnApplicationBootstrap {
  /** `modules`: the modules of auditing, flow control and tracing. `onTrace`: called with each traced request after its response. */
  static register(
    config: ServingModuleConfig,
    modules: readonly DynamicModule[],
    onTrace: ((trace: TraceDocument) => void) | undefined,
  ): DynamicModule {
    return {
      module: ServingModule,
      imports: [DiscoveryModule, ...modules],
      providers: [
        { provide: RequestMetrics, useFactory: (registry: LimitedRegistry) => new RequestMetrics(registry), inject: [LimitedRegistry] },
        { provide: APP_FILTER, useClass: StatusErrorFilter },
        { provide: RequestTraces, useValue: new RequestTraces(config.requests.traces, onTrace) },
        {
          provide: GenericServer,
          useFactory: (
            authentication: AuthenticationGuard,
            authorization: AuthorizationGuard,
            metrics: RequestMetrics,
            traces: RequestTraces,
            log: Log,
            registry: LimitedRegistry,
            trust: ClientTrust,
            features: FeatureGates,
            lifetime: Lifetime,
            auditing?: ConfiguredAuditing,
            flowControl?: RunningFlowControl,
            tracing?: Tracing,
            storageVersions?: StorageVersions,
          ) =>
            newServer(config, {
              authentication,
              authorization,
              metrics,
              traces,
              log,
              registry,
              trust,
              features,
              lifetime,
              auditing,
              flowControl,
              tracing,
              storageVersions,
            }),
          inject: [
            AuthenticationGuard,
            AuthorizationGuard,
            RequestMetrics,
            RequestTraces,
            Log,
            LimitedRegistry,
            ClientTrust,
            FeatureGates,
            Lifetime,
            ...[ConfiguredAuditing, RunningFlowControl, Tracing, StorageVersions].map((token) => ({ token, optional: true })),
          ],
        },
        {
          provide: Published,
          useFactory(server: GenericServer, scheme: Scheme, features: FeatureGates, registry: LimitedRegistry, log: Log): Published {
            const version = versionInfo(config.emulation ?? ownVersion);
            registerBuildMetrics(registry, version, features);
            const debugging = config.debugging ?? { profiling: true, flags: () => new Map<string, string>() };
            const routes = { registry, version, config: debugging, setVerbosity: log.setVerbosity };
            return installNonResourceRoutes(server, scheme, features, routes, config);
          },
          inject: [GenericServer, Scheme, FeatureGates, LimitedRegistry, Log],
        },
      ],
      exports: [GenericServer, RequestTraces],
    };
  }

  constructor(
    @Inject(GenericServer) private readonly server: GenericServer,
    @Inject(Published) private readonly published: Published,
    @Inject(ApiServers) private readonly servers: ApiServers,
    @Inject(RequestMetrics) private readonly requestMetrics: RequestMetrics,
    @Inject(RequestTraces) private readonly traces: RequestTraces,
    @Inject(LimitedRegistry) private readonly registry: LimitedRegistry,
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(HttpAdapterHost) private readonly adapters: HttpAdapterHost,
    @Inject(Contributions) private readonly contributions: Contributions,
  ) {}

  /** Installs the parts of all modules. The endpoints of built-in groups already exist, because the modules are initialized. */
  onApplicationBootstrap(): void {
    const { server, published, registry, servers } = this;
    installTraces(server.mux, this.traces, server.director.notFound);
    installPluginReports(server.mux, () => this.contributions.reports());
    registerCelDurations(registry);
    registerEndpointMetrics(registry, this.requestMetrics, servers.chain);
    for (const part of serverPartsOf(this.discovery)) part.install(server, published);
    server.delegate(servers.chain);
    bridgeExpress(server, this.adapters.httpAdapter);
  }
}

function newServer(
  { serving, requests, shutdown, livezGraceMs = 0 }: ServingModuleConfig,
  { log, registry, trust, features, lifetime, flowControl, tracing, ...dependencies }: ServerDependencies,
): GenericServer {
  warnOfExcessWorkers(log, serving?.workers ?? 0);
  return new GenericServer({
    ...dependencies,
    flowControl: flowControl?.control,
    tracer: tracing?.tracer,
    access: new AccessMetrics(registry),
    log: log.chain,
    serving: serving && trust.asking(serving),
    onWorkerLoss: workerLossListener(log, registry),
    shutdown,
    hstsDirectives: requests.hstsDirectives,
    goawayChance: requests.goawayChance,
    compressesResponses: features.enabled('APIResponseCompression'),
    limitsUnauthenticatedHttp2: features.enabled('UnauthenticatedHTTP2DOSMitigation'),
    constrainsImpersonation: features.enabled('ConstrainedImpersonation'),
    requestTimeoutMs: requests.timeoutMs,
    livezGraceMs,
    corsAllowedOrigins: requests.corsAllowedOrigins,
    maxRequestsInFlight: requests.maxInFlight,
    maxMutatingRequestsInFlight: requests.maxMutatingInFlight,
    closeBackends: () => lifetime.end(),
  });
}
