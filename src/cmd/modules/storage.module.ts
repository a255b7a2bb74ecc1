import { type DynamicModule, Module } from '@nestjs/common';
import { Scheme } from '#apiserver/registry/scheme';
import { EgressSelector } from '#apiserver/network/egress-selector/egress-selector';
import { FeatureGates } from '#apiserver/base/feature-gates';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { registerStorageSize } from '#apiserver/registry/storage-metrics';
import { Log } from '#cmd/logging/log';
import { everyMetric, type ServerConfig } from '#cmd/server-config';
import { OpenedStorage } from '#cmd/storage/opened-storage';
import { StorageChecks } from '#cmd/storage/storage-checks';
import { storageBackends } from '#cmd/storage/storage-backends';
import { RegistryMetrics } from '#apiserver/base/metrics/metrics';
import { PluginFailures } from '#apiserver/plugins/plugin-failures';
import { Contributions } from './contributions.ts';
import { BuiltIns, contributionProviders } from './built-ins.ts';
import { Lifetime } from './lifetime.ts';

/** Storage backend with its encryption, health checks and size metric. */
@Module({})
export class StorageModule {
  static register({ storage: config, metrics = everyMetric }: Pick<ServerConfig, 'storage' | 'metrics'>): DynamicModule {
    return {
      module: StorageModule,
      providers: [
        ...contributionProviders(storageBackends),
        {
          provide: OpenedStorage,
          async useFactory(
            scheme: Scheme,
            registry: LimitedRegistry,
            features: FeatureGates,
            log: Log,
            lifetime: Lifetime,
            builtIns: BuiltIns,
            contributions: Contributions,
            egress?: EgressSelector,
          ) {
            const opened = lifetime.use(
              await OpenedStorage.open(config, {
                scheme,
                registry,
                features,
                log,
                egress,
                backends: [...builtIns.of('StorageBackend').values()],
                failures: new PluginFailures(log, new RegistryMetrics(registry), contributions.usage),
              }),
            );
            if (metrics.sizeIntervalMs > 0) registerStorageSize(registry, opened.objects, metrics.sizeIntervalMs);
            return opened;
          },
          inject: [
            Scheme,
            LimitedRegistry,
            FeatureGates,
            Log,
            Lifetime,
            BuiltIns,
            Contributions,
            { token: EgressSelector, optional: true },
          ],
        },
        {
          provide: StorageChecks,
          useFactory: (storage: OpenedStorage, log: Log, registry: LimitedRegistry, lifetime: Lifetime) =>
            lifetime.use(new StorageChecks(config, storage, { log, registry })),
          inject: [OpenedStorage, Log, LimitedRegistry, Lifetime],
        },
      ],
      exports: [OpenedStorage],
    };
  }
}
