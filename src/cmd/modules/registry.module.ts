import { hostname } from 'node:os';
import { type DynamicModule, Module } from '@nestjs/common';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import { Informers, LateInformers } from '#apiserver/registry/informers';
import { LoopbackClient } from '#apiserver/server/loopback-client';
import { RegistryMetrics } from '#apiserver/base/metrics/metrics';
import { PluginFailures } from '#apiserver/plugins/plugin-failures';
import { Scheme } from '#apiserver/registry/scheme';
import { StorageFactory, type StorageFactoryOptions } from '#apiserver/registry/storage-factory';
import { Stores } from '#apiserver/registry/stores';
import { FeatureGates } from '#apiserver/base/feature-gates';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import {
  consistencyCheckCounter,
  registerCacheMemory,
  registerCacheMetrics,
  registerShardMetrics,
  registerObjectMetrics,
} from '#apiserver/registry/storage-metrics';
import type { ResourceConfig } from '#apiserver/server/resource-config';
import { EndpointMapper } from '#apiserver/server/rest-mapper';
import { coolRegularly } from '#apiserver/storage/cacher/cached-object';
import { systemClock } from '#apiserver/base/clock';
import { ApiServers } from '#cmd/apis/api-servers';
import { AuthorizedWrites } from '#cmd/apis/authorized-writes';
import { ContributedGroups } from '#cmd/apis/contributed-groups';
import { ServiceAllocators } from '#kubernetes/controlplane/services/service-allocators';
import { Log } from '#cmd/logging/log';
import { everyMetric, type ServerConfig } from '#cmd/server-config';
import { informersOf } from '#cmd/storage/informers-of';
import { OpenedStorage } from '#cmd/storage/opened-storage';
import { StorageReadiness } from '#cmd/storage/storage-readiness';
import { storedResources } from '#cmd/storage/storage-versions';
import { defaultControlPlaneOptions } from '#kubernetes/controlplane/control-plane-options';
import { apiServerId } from '#kubernetes/controlplane/identity-lease';
import { StorageVersions } from '#kubernetes/controlplane/storage-versions';
import { Contributions } from './contributions.ts';
import { Lifetime } from './lifetime.ts';

type RegistryConfig = Pick<
  ServerConfig,
  'eventTtlSeconds' | 'hasGarbageCollection' | 'metrics' | 'storageInitializationTimeoutMs' | 'serviceClusterIpRange' | 'controlPlane'
>;

/**
 * Stores and watch caches of all resources, and their in-process readers. Global, because handlers of every API group, plugins and pages of
 * packages use informers and stores.
 */
@Module({})
export class RegistryModule {
  /** `storage`: the storage module. */
  static register(config: RegistryConfig, resourceConfig: ResourceConfig, storage: DynamicModule): DynamicModule {
    return {
      module: RegistryModule,
      global: true,
      imports: [storage],
      providers: [
        {
          provide: AuthorizedWrites,
          useFactory: (authorizer: UnionAuthorizer, mapper: EndpointMapper) => new AuthorizedWrites(authorizer, mapper),
          inject: [UnionAuthorizer, EndpointMapper],
        },
        {
          provide: ServiceAllocators,
          useFactory: ({ objects }: OpenedStorage, client: LoopbackClient, log: Log, registry: LimitedRegistry) => {
            const { serviceNodePortRange: nodePortRange } = { ...defaultControlPlaneOptions, ...config.controlPlane };
            const allocators = new ServiceAllocators({
              client,
              storage: objects,
              clusterIpRange: config.serviceClusterIpRange,
              nodePortRange,
              log,
            });
            allocators.registerMetrics(registry);
            return allocators;
          },
          inject: [OpenedStorage, LoopbackClient, Log, LimitedRegistry],
        },
        {
          provide: StorageFactory,
          useFactory: (
            opened: OpenedStorage,
            services: ServiceAllocators,
            writes: AuthorizedWrites,
            log: Log,
            registry: LimitedRegistry,
            features: FeatureGates,
            lifetime: Lifetime,
          ) => {
            lifetime.use(coolRegularly(systemClock));
            const factory = new StorageFactory(opened.objects, {
              hooks: new Map([...services.hooks, ...writes.hooks]),
              ttlSeconds: config.eventTtlSeconds,
              overrides: opened.overrides?.byPlace,
              hasGarbageCollection: config.hasGarbageCollection,
              onRefusal: (message) => log.error({}, message),
              onConsistencyCheck: consistencyReport(registry, log),
            });
            lifetime.defer(() => factory.closeCaches());
            if ((config.metrics ?? everyMetric).objects) registerObjectMetrics(registry, factory);
            registerCacheMetrics(registry, factory);
            if (features.enabled('ShardedListAndWatch')) registerShardMetrics(registry, factory);
            registerCacheMemory(registry);
            return factory;
          },
          inject: [OpenedStorage, ServiceAllocators, AuthorizedWrites, Log, LimitedRegistry, FeatureGates, Lifetime],
        },
        {
          provide: ContributedGroups,
          useFactory: (
            contributions: Contributions,
            scheme: Scheme,
            factory: StorageFactory,
            lifetime: Lifetime,
            log: Log,
            registry: LimitedRegistry,
          ) => {
            const taken = new Set(scheme.known.map(({ group }) => group));
            const failures = new PluginFailures(log, new RegistryMetrics(registry), contributions.usage);
            return lifetime.use(new ContributedGroups(contributions.all, { taken, resourceConfig, storage: factory, failures }));
          },
          inject: [Contributions, Scheme, StorageFactory, Lifetime, Log, LimitedRegistry],
        },
        {
          provide: Informers,
          useFactory: (
            scheme: Scheme,
            factory: StorageFactory,
            contributed: ContributedGroups,
            servers: ApiServers,
            writes: AuthorizedWrites,
          ) => {
            const informers = informersOf(scheme, factory, (resource) => contributed.storeOf(resource) ?? servers.customStoreOf(resource));
            writes.connect(informers);
            return informers;
          },
          inject: [Scheme, StorageFactory, ContributedGroups, ApiServers, AuthorizedWrites],
        },
        { provide: LateInformers, useExisting: Informers },
        {
          provide: Stores,
          useFactory: (scheme: Scheme, factory: StorageFactory) => new Stores(scheme, factory),
          inject: [Scheme, StorageFactory],
        },
        {
          provide: StorageVersions,
          useFactory: (client: LoopbackClient, scheme: Scheme, features: FeatureGates) =>
            features.enabled('StorageVersionAPI') && features.enabled('APIServerIdentity')
              ? new StorageVersions(client, apiServerId(hostname()), storedResources(scheme))
              : undefined,
          inject: [LoopbackClient, Scheme, FeatureGates],
        },
        {
          provide: StorageReadiness,
          useFactory: (factory: StorageFactory, log: Log, features: FeatureGates) =>
            new StorageReadiness({
              storage: factory,
              log,
              timeoutMs: config.storageInitializationTimeoutMs,
              waits: features.enabled('WatchCacheInitializationPostStartHook'),
            }),
          inject: [StorageFactory, Log, FeatureGates],
        },
      ],
      exports: [StorageFactory, ContributedGroups, Informers, LateInformers, Stores, ServiceAllocators, StorageVersions],
    };
  }
}

function consistencyReport(registry: LimitedRegistry, log: Log): NonNullable<StorageFactoryOptions['onConsistencyCheck']> {
  const count = consistencyCheckCounter(registry);
  return (resource, status, message) => {
    count(resource, status);
    if (status === 'failure') log.error({ resource }, message);
  };
}
