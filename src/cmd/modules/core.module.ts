import { type DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EndpointLookup } from '#apiserver/admission/endpoint-lookup';
import { type InstalledEndpoints, LoopbackClient } from '#apiserver/server/loopback-client';
import { Scheme } from '#apiserver/registry/scheme';
import { ConfiguredEgress } from '#apiserver/network/egress-selector/configured-egress';
import { EgressSelector } from '#apiserver/network/egress-selector/egress-selector';
import { FeatureGates } from '#apiserver/base/feature-gates';
import { LocalComponents } from '#apiserver/controllers/local-components';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { useRegexpThread } from '#apiserver/base/regexp-thread';
import { WorkQueueMetrics } from '#apiserver/base/metrics/workqueue-metrics';
import { RegistryMetrics } from '#apiserver/base/metrics/metrics';
import { EndpointMapper } from '#apiserver/server/rest-mapper';
import { ApiServers } from '#cmd/apis/api-servers';
import type { ServedApis } from '#cmd/apis/served-apis';
import { Log, newLog } from '#cmd/logging/log';
import { everyMetric, type ServerConfig } from '#cmd/server-config';
import { BuiltIns } from './built-ins.ts';
import { Contributions } from './contributions.ts';
import { Lifetime } from './lifetime.ts';

export interface CoreParts {
  readonly apis: ServedApis;
  readonly features: FeatureGates;
  readonly contributions: Contributions;
  readonly lifetime: Lifetime;
}

/**
 * Providers that all other modules use: log, metrics, feature gates, egress, the scheme, and the lifetime of opened resources. Global for
 * that reason.
 */
@Module({})
export class CoreModule {
  static register(config: Pick<ServerConfig, 'verbosity' | 'logFlushMs' | 'metrics' | 'egress'>, parts: CoreParts): DynamicModule {
    useRegexpThread();
    const registry = new LimitedRegistry(config.metrics ?? everyMetric);
    const { apis, contributions, lifetime } = parts;
    // Runs last, because it was deferred first: other parts call the instances while they end.
    lifetime.defer(() => contributions.instances?.[Symbol.asyncDispose]());
    const lookup: InstalledEndpoints = (target) => apis.servers.endpointOf(target);
    const provided = [
      { provide: Lifetime, useValue: parts.lifetime },
      { provide: Contributions, useValue: parts.contributions },
      { provide: Log, useValue: newLog(config.verbosity, config.logFlushMs) },
      { provide: LimitedRegistry, useValue: registry },
      { provide: WorkQueueMetrics, useValue: new WorkQueueMetrics(registry) },
      { provide: FeatureGates, useValue: parts.features },
      { provide: LocalComponents, useValue: new LocalComponents() },
      { provide: EgressSelector, useValue: config.egress && new ConfiguredEgress(config.egress, new RegistryMetrics(registry)) },
      { provide: Scheme, useValue: apis.scheme },
      { provide: ApiServers, useValue: apis.servers },
      { provide: EndpointMapper, useValue: new EndpointMapper(apis.servers.chain) },
      { provide: EndpointLookup, useValue: lookup },
      { provide: LoopbackClient, useValue: new LoopbackClient(lookup) },
    ];
    return {
      module: CoreModule,
      global: true,
      imports: [DiscoveryModule],
      providers: [...provided, BuiltIns],
      exports: [...provided.map(({ provide }) => provide), BuiltIns],
    };
  }
}
