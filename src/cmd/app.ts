import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { type DynamicModule, type INestApplication, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Container } from 'inversify';
import { ExpressAdapter } from '@nestjs/platform-express';
import { ManifestCodec } from '#apiserver/admission/manifest/manifest-codec';
import { ManifestMetrics } from '#apiserver/admission/manifest/manifest-metrics';
import { ManifestFolders } from '#apiserver/admission/manifest/manifests';
import { AdmissionMetrics } from '#apiserver/admission/admission-metrics';
import { AuditMetrics } from '#apiserver/audit/audit-metrics';
import type { AuditPolicy } from '#apiserver/audit/policy';
import { AuthenticationMetrics } from '#apiserver/authentication/authentication-metrics';
import { AuthenticationGuard } from '#apiserver/authentication/authentication.guard';
import { AuthorizationGuard } from '#apiserver/authorization/authorization.guard';
import { contributionsOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import type { PagesOptions } from '#apiserver/plugins/pages';
import { UnionAuthenticator } from '#apiserver/authentication/union';
import { registerAuthorizationDecisions } from '#apiserver/authorization/authorization-metrics';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import { registerCelDurations } from '#apiserver/cel/cel-durations';
import type { ApiGroup } from '#apiserver/registry/api-group';
import { Informers } from '#apiserver/registry/informers';
import { paramAuthorization } from '#kubernetes/apis/admissionregistration/param-authorization';
import { claimAuthorization } from '#kubernetes/apis/resource/claim-authorization';
import { podCertificateSigning } from '#kubernetes/apis/certificates/pod-certificate-signing';
import { EscalationCheck } from '#kubernetes/apis/rbac/escalation';
import { RBAC } from '#plugins/authorization/rbac/rbac';
import { flowDumps } from '#apiserver/flowcontrol/flow-dump';
import { Installer } from '#apiserver/endpoints/installer';
import { Scheme } from '#apiserver/registry/scheme';
import { ChainKinds } from '#apiserver/registry/served-kinds';
import { ApiServerTarget } from '#apiserver/server/api-server-target';
import { ResourceConfig } from '#apiserver/server/resource-config';
import { GenericServer } from '#apiserver/server/generic-server';
import { AccessMetrics } from '#apiserver/server/metrics/access-metrics';
import { LimitedRegistry } from '#apiserver/server/metrics/limited-registry';
import { registerEndpointMetrics } from '#apiserver/server/metrics/endpoint-metrics';
import { RequestMetrics } from '#apiserver/server/metrics/request-metrics';
import { RegistryMetrics } from '#apiserver/server/metrics/metrics';
import {
  consistencyCheckCounter,
  registerCacheMemory,
  registerCacheMetrics,
  registerObjectMetrics,
  registerStorageSize,
} from '#apiserver/server/metrics/storage-metrics';
import type { TlsOptions } from '#apiserver/server/serving/secure-server';
import { ConfiguredEgress } from '#apiserver/server/egress-selector/configured-egress';
import { EndpointMapper } from '#apiserver/server/rest-mapper';
import { ServiceResolver } from '#apiserver/server/service-resolver';
import type { TraceDocument } from '#apiserver/trace/request-trace';
import { RequestTraces } from '#apiserver/trace/request-traces';
import { installTraces } from '#apiserver/trace/trace-routes';
import { coolRegularly } from '#apiserver/storage/cacher/cached-object';
import { systemClock } from '#apiserver/storage/cacher/clock';
import { StorageFactory } from '#apiserver/registry/storage-factory';
import { apiServerId } from '#kubernetes/controlplane/identity-lease';
import { setCapabilities } from '#kubernetes/apis/core/capabilities';
import { installAggregation } from './apis/aggregation.ts';
import { ClientTrust } from './serving/client-trust.ts';
import { addContributions } from './modules/add-contributions.ts';
import { apiGroups } from './apis/api-groups.ts';
import { ContributedGroups } from './apis/contributed-groups.ts';
import { newContributedAuditing } from './serving/auditing.ts';
import type { EncryptionRule } from './config/encryption-configuration.ts';
import { registerEtcdMetrics } from './storage/etcd-metrics.ts';
import { Encryption } from './storage/encryption.ts';
import { tellDurability } from './storage/durability.ts';
import { StorageHealth } from './storage/storage-health.ts';
import { newFlowControl } from './serving/flow-control.ts';
import { bridgeExpress } from './serving/express-bridge.ts';
import { ControlPlane } from './apis/control-plane.ts';
import { type Log, newLog } from './logging/log.ts';
import { openStorage } from './storage/open-storage.ts';
import { tellCostlyWorkers, tellWorkerLosses } from './logging/worker-logs.ts';
import { AdmissionModule } from './modules/admission.module.ts';
import { ApiGroupModule } from './modules/api-group.module.ts';
import { AuthenticationModule, StrategyFactory } from './modules/authentication.module.ts';
import { AuthorizationModule, AuthorizerFactory } from './modules/authorization.module.ts';
import { PagesModule } from './modules/pages.module.ts';
import { PluginServicesModule } from './modules/plugin-services.module.ts';
import { ServerModule } from './modules/server.module.ts';
import { ServiceAccountsModule } from './modules/service-accounts.module.ts';
import { defaultFeatureGates } from './options/feature-options.ts';
import { installCustomResources } from './apis/custom-resources.ts';
import { installNonResourceRoutes } from './serving/non-resource-routes.ts';
import { cborGate } from '#apiserver/endpoints/handlers/negotiation';
import { objectsIn } from './storage/object-forms.ts';
import { installOpenIdRoutes } from './serving/open-id-routes.ts';
import { type AggregationConfig, type AuthenticationConfig, everyMetric, type ServerConfig } from './server-config.ts';
import { registerBuildMetrics } from './serving/build-metrics.ts';
import { newTracing } from './serving/tracing.ts';
import { StorageOverrides } from './storage/storage-overrides.ts';
import { ownVersion, versionInfo } from './version.ts';
import { addStorageReadiness } from './storage/storage-readiness.ts';
import { specialHandlers } from './apis/special-handlers.ts';
import { storedResources } from './storage/storage-versions.ts';

/** Upstream's default. */
const storageInitializationTimeoutMs = 60_000;

/** A server that is put together and not yet started. */
export interface App {
  readonly server: GenericServer;
  readonly nest: INestApplication;
  readonly log: Log;
  readonly storage: StorageFactory;
  readonly scheme: Scheme;
  /** Listens, runs the post-start hooks, and resolves when /readyz would say ok. */
  start(): Promise<AddressInfo | undefined>;
  /** Serves with other certificates from the next handshake on, and trusts other authorities of clients at once. */
  reloadCertificates(tls: TlsOptions): void;
  /** Encrypts by other keys from the next write on; only where something is encrypted. Rejects if a key service is not well. */
  reloadEncryption(rules: readonly EncryptionRule[]): Promise<void>;
  /** Requests that come from now on are audited as this policy says. */
  reloadAudit(policy: AuditPolicy): void;
  /** Asks other authorizers from the next request on. */
  reloadAuthorization(config: ServerConfig['authorization']): void;
  /** Takes tokens of other issuers, and lets strangers in elsewhere, from the next request on. Throws for what needs a start. */
  reloadAuthentication(config: AuthenticationConfig): void;
  /** Shows the servers behind APIServices another certificate from the next connection on. */
  reloadAggregation(config: AggregationConfig): void;
  stop(): Promise<void>;
}

/** What is added to a server besides its configuration. */
export interface AppExtensions {
  /** Besides those of the packages that the configuration names. */
  readonly plugins?: readonly LoadedContribution[] | undefined;
  /** Told of each request that was traced, once it is answered. */
  readonly onTrace?: ((trace: TraceDocument) => void) | undefined;
}

/**
 * The composition root: storage, the three servers on one generic server, and the Nest application around them.
 * Rejects if anything cannot be put together; nothing is left open then.
 */
export async function createApp(config: ServerConfig, extensions: AppExtensions = {}): Promise<App> {
  const opened = new AsyncDisposableStack();
  try {
    return await assemble(config, extensions, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** `opened`: what is to be closed with the server, or where it cannot be put together; what was opened last goes first. */
async function assemble(config: ServerConfig, { plugins = [], onTrace }: AppExtensions, opened: AsyncDisposableStack): Promise<App> {
  const contributions = [...(config.plugins ?? []), ...plugins];
  const log = newLog(config.verbosity, config.logFlushMs);
  const registry = new LimitedRegistry(config.metrics ?? everyMetric);
  const metrics = new RequestMetrics(registry);
  const scheme = new Scheme();
  const targets = {
    aggregator: new ApiServerTarget('kube-aggregator'),
    kubernetes: new ApiServerTarget('kube-apiserver'),
    apiextensions: new ApiServerTarget('apiextensions-apiserver'),
    /** What packages add. */
    contributed: new ApiServerTarget('contributed'),
    customResources: new ApiServerTarget('custom-resources', true),
    /** Not in the chain: what clients cannot ask for, while the server's own duties still do. */
    switchedOff: new ApiServerTarget('switched-off'),
  };
  const features = config.features ?? defaultFeatureGates();
  setCapabilities({ allowPrivileged: config.allowPrivileged, isEnabled: (feature) => features.enabled(feature) });
  const resourceConfig = config.resourceConfig ?? new ResourceConfig();
  const { kubernetes, apiextensions, aggregator } = apiGroups(config.admission);
  const builders = [
    { target: targets.kubernetes, builder: kubernetes },
    { target: targets.apiextensions, builder: apiextensions },
    { target: targets.aggregator, builder: aggregator },
  ];
  const apis = builders.map(({ target, builder }) => ({ target, builder, served: resourceConfig.served(builder.groups, features) }));
  for (const { builder, served } of apis) builder.addToScheme(scheme, served);

  const chain = [targets.aggregator, targets.kubernetes, targets.apiextensions, targets.contributed, targets.customResources];
  const egress = config.egress && new ConfiguredEgress(config.egress, new RegistryMetrics(registry));
  opened.use(coolRegularly(systemClock));
  const toEtcd =
    config.storage.backend === 'etcd' ? { dial: egress?.dial('etcd'), onOperation: registerEtcdMetrics(registry, scheme) } : undefined;
  const backend = await openStorage(config.storage, toEtcd);
  let closeStorage = (): Promise<void> => backend.close();
  let encrypted: Encryption | undefined;
  opened.defer(async () => {
    await closeStorage();
    await encrypted?.[Symbol.asyncDispose]();
  });
  const { encryption } = config.storage;
  if (encryption)
    encrypted = await Encryption.open(encryption.rules, { storage: backend, scheme, registry, log, apiServerId: apiServerId(hostname()) });
  const etcd = config.storage.backend === 'etcd' ? config.storage : undefined;
  const hasCbor = features.enabled(cborGate);
  const objects = objectsIn(encrypted?.storage ?? backend, scheme, etcd?.mediaType, hasCbor);
  const overrides =
    etcd?.overrides &&
    (await StorageOverrides.open(etcd.overrides, scheme, async (servers) => {
      const other = await openStorage({ ...etcd, servers }, toEtcd);
      return objectsIn(encrypted?.wrap(other) ?? other, scheme, etcd.mediaType, hasCbor);
    }));
  if (overrides) opened.defer(() => overrides.close());
  const controlPlane = new ControlPlane({
    config,
    features,
    chain: [...chain, targets.switchedOff],
    storage: objects,
    log,
    groups: (): readonly ApiGroup[] => [...scheme.groups, ...contributed.groups],
    storedResources: () => storedResources(scheme),
  });
  const escalation = new EscalationCheck();
  const mapper = new EndpointMapper(chain);
  const signing = podCertificateSigning(() => nest.get(UnionAuthorizer));
  const params = paramAuthorization(() => ({ informers: nest.get<Informers>(Informers), authorizer: nest.get(UnionAuthorizer), mapper }));
  const claims = claimAuthorization(() => ({ informers: nest.get<Informers>(Informers), authorizer: nest.get(UnionAuthorizer) }));
  const countCheck = consistencyCheckCounter(registry);
  const storage = new StorageFactory(objects, {
    hooks: new Map([
      ...controlPlane.storeHooks,
      ...escalation.hooks,
      ...params,
      ...claims,
      ['certificates.k8s.io/podcertificaterequests', signing],
    ]),
    ttlSeconds: config.eventTtlSeconds,
    overrides: overrides?.byPlace,
    hasGarbageCollection: config.hasGarbageCollection,
    onConsistencyCheck: (resource, status, message) => {
      countCheck(resource, status);
      if (status === 'failure') log.error({ resource }, message);
    },
  });
  closeStorage = () => storage.close();
  const contributed = new ContributedGroups(contributions, {
    taken: new Set(scheme.known.map(({ group }) => group)),
    resourceConfig,
    storage,
    installer: () => nest.get(Installer, { strict: false }),
  });
  const trust = new ClientTrust(config);
  let tls: TlsOptions | undefined = config.serving;
  const shutdown = new AbortController();
  const modules = [
    ServerModule.register(scheme, storage, specialHandlers, {
      kubelet: config.kubelet,
      features,
      egress,
      minRequestTimeout: config.requests.minTimeoutSeconds,
      storeOf: (resource) => contributed.storeOf(resource),
    }),
    AuthenticationModule.register(
      config.authentication,
      trust.authorities,
      egress,
      new AuthenticationMetrics(registry),
      controlPlane.noteLegacyTokenUse,
    ),
    AuthorizationModule.register(config.authorization.authorizers, egress, features),
    ServiceAccountsModule.register(config.serviceAccounts),
    PluginServicesModule.register(
      {
        client: controlPlane.client.withUsers((exchange, user) => server.serveAs(exchange, user)),
        servedKinds: new ChainKinds(chain),
        logger: log,
        metrics: new RegistryMetrics(registry),
        restMapper: mapper,
        manifests: new ManifestFolders({
          codec: new ManifestCodec(scheme),
          metrics: new ManifestMetrics(registry, apiServerId(hostname())),
          logger: log,
          shutdown: shutdown.signal,
        }),
        clock: systemClock,
        featureGates: features,
        shutdownSignal: shutdown.signal,
      },
      config.routesToEndpoints ?? false,
      egress,
    ),
    AdmissionModule.register(config.admission, config.admissionConfigurations, contributions, new AdmissionMetrics(registry)),
    PagesModule,
    ...contributionsOf(contributions, 'Pages').map(({ described }) => (described.options as unknown as PagesOptions).module),
    ...apis.flatMap(({ target, served }) => served.map((group) => ApiGroupModule.register(group, target))),
    ...builders.flatMap(({ builder }) =>
      resourceConfig.switchedOff(builder.groups).map((group) => ApiGroupModule.register(group, targets.switchedOff)),
    ),
  ];
  const nest: INestApplication = await NestFactory.create(rootModule(modules), new ExpressAdapter(), {
    logger: false,
    abortOnError: false,
  });
  opened.defer(() => nest.close());
  await nest.init();
  const informers = nest.get<Informers>(Informers);
  escalation.connect({ informers, authorizer: nest.get(UnionAuthorizer), rules: new RBAC(informers) });

  const traces = new RequestTraces(config.requests.traces, onTrace);
  const auditMetrics = new AuditMetrics(registry);
  const auditing = newContributedAuditing(
    config.audit,
    contributionsOf(contributions, 'AuditBackendPlugin'),
    nest.get(Container, { strict: false }),
    {
      logger: log,
      metrics: auditMetrics,
      dial: egress?.dial('controlplane'),
    },
  );
  const tracing = config.tracing && (await newTracing(config.tracing, log, apiServerId(hostname()), egress?.dial('controlplane')));
  if (tracing) opened.use(tracing);
  opened.defer(async () => auditing?.backend.shutDown());
  const flowControl = config.requests.priorityAndFairness
    ? newFlowControl({ config: config.requests, informers, storage, registry, shutdown: shutdown.signal })
    : undefined;
  tellCostlyWorkers(log, config.serving?.workers ?? 0);
  const server = new GenericServer({
    authentication: nest.get(AuthenticationGuard),
    authorization: nest.get(AuthorizationGuard),
    auditing,
    flowControl: flowControl?.control,
    storageVersions: controlPlane.storageVersions,
    metrics,
    access: new AccessMetrics(registry),
    traces,
    tracer: tracing?.tracer,
    log: log.chain,
    serving: config.serving && trust.asking(config.serving),
    onWorkerLoss: tellWorkerLosses(log, registry),
    shutdown: config.shutdown,
    hstsDirectives: config.requests.hstsDirectives,
    goawayChance: config.requests.goawayChance,
    requestTimeoutMs: config.requests.timeoutMs,
    livezGraceMs: config.livezGraceMs ?? 0,
    corsAllowedOrigins: config.requests.corsAllowedOrigins,
    maxRequestsInFlight: config.requests.maxInFlight,
    maxMutatingRequestsInFlight: config.requests.maxMutatingInFlight,
    closeBackends: () => opened.disposeAsync(),
  });
  installTraces(server.mux, traces, server.director.notFound);
  const storageHealth = opened.use(new StorageHealth(objects, { log, registry }));
  server.addHealthCheck({ name: 'etcd', check: () => storageHealth.check(etcd?.healthTimeoutMs) });
  if (encrypted && (encryption?.reloads || encrypted.usesKms)) server.addHealthCheck(encrypted.healthCheck);
  server.addReadyCheck({ name: 'etcd-readiness', check: () => storageHealth.check(etcd?.readyTimeoutMs) });
  if (etcd) overrides?.addChecks(server, etcd);
  tellDurability(server, objects, { log, registry });
  addStorageReadiness(server, {
    storage,
    log,
    timeoutMs: config.storageInitializationTimeoutMs ?? storageInitializationTimeoutMs,
    waits: features.enabled('WatchCacheInitializationPostStartHook'),
  });
  const signer = config.authentication.serviceAccounts?.signer;
  if (signer)
    signer.onError = (error) =>
      log.error({ reason: error.message }, 'the keys of service accounts cannot be read again; the known ones stay');
  if (config.authentication.serviceAccounts)
    installOpenIdRoutes(server, config.authentication.serviceAccounts, log, config.externalHostname);
  const { objects: tellsObjects, sizeIntervalMs } = config.metrics ?? everyMetric;
  if (tellsObjects) registerObjectMetrics(registry, storage);
  if (sizeIntervalMs > 0) registerStorageSize(registry, objects, sizeIntervalMs);
  const version = versionInfo(config.emulation ?? ownVersion);
  registerBuildMetrics(registry, version, features);
  registerCacheMetrics(registry, storage);
  registerCacheMemory(registry);
  controlPlane.registerMetrics(registry);
  registerCelDurations(registry);
  registerAuthorizationDecisions(registry, nest.get(UnionAuthorizer));
  registerEndpointMetrics(registry, metrics, chain);
  const published = installNonResourceRoutes(server, scheme, features, {
    registry,
    version,
    config: config.debugging ?? { profiling: true, flags: () => new Map() },
    setVerbosity: log.setVerbosity,
  });
  contributed.install(targets.contributed, published);
  server.delegate(chain);
  const services = nest.get(Container, { strict: false }).get<ServiceResolver>(ServiceResolver);
  const customResources = installCustomResources({
    server,
    target: targets.customResources,
    installer: nest.get(Installer, { strict: false }),
    storage,
    client: controlPlane.client,
    services,
    registry,
    contributed: contributed.names,
    log,
    ...published,
  });
  opened.use(customResources);
  opened.use(contributed);
  const aggregation = installAggregation({
    server,
    client: controlPlane.client,
    services,
    registry,
    config: config.aggregation ?? { rejectsRedirects: true },
    log,
    ...published,
  });
  opened.use(aggregation);
  opened.defer(() => shutdown.abort());
  if (flowControl) {
    for (const [name, serve] of flowDumps(flowControl.control)) server.mux.handle(`/debug/api_priority_and_fairness/${name}`, serve, false);
  }
  bridgeExpress(server, nest);
  controlPlane.install(server);
  addContributions({ nest, server, config }, contributions);

  return {
    server,
    nest,
    log,
    storage,
    scheme,
    async start() {
      await Promise.all([storage.whenTried(), contributed.whenTried()]);
      flowControl?.follow();
      return server.start();
    },
    reloadCertificates(next) {
      tls = next;
      trust.readFiles(next);
      server.reloadCertificates(trust.asking(next));
    },
    reloadEncryption: async (rules) => encrypted?.replace(rules),
    reloadAudit: (policy) => auditing?.policy.replace(policy),
    reloadAuthorization: ({ authorizers }) => nest.get(UnionAuthorizer).replace(nest.get(AuthorizerFactory).make(authorizers)),
    reloadAuthentication(next) {
      trust.follow(next);
      nest.get(UnionAuthenticator).replace(nest.get(StrategyFactory).make(next));
      if (tls) server.reloadCertificates(trust.asking(tls));
    },
    reloadAggregation: ({ clientCertificate }) => aggregation.reloadClientCertificate(clientCertificate),
    stop: () => server.shutDown(),
  };
}

function rootModule(imports: (DynamicModule | Type)[]): DynamicModule {
  @Module({})
  class AppModule {}
  return { module: AppModule, imports };
}
