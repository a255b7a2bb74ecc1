import { type DynamicModule, Module } from '@nestjs/common';
import { LoopbackClient } from '#apiserver/server/loopback-client';
import { FeatureGates } from '#apiserver/base/feature-gates';
import { EgressSelector } from '#apiserver/network/egress-selector/egress-selector';
import { WorkQueueMetrics } from '#apiserver/base/metrics/workqueue-metrics';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { ServiceResolver } from '#apiserver/network/service-resolver';
import { Aggregation } from '#cmd/apis/aggregation';
import { PeerServers } from '#cmd/apis/peer-servers';
import { Log } from '#cmd/logging/log';
import type { ServerConfig } from '#cmd/server-config';
import { OpenedStorage } from '#cmd/storage/opened-storage';
import { Lifetime } from './lifetime.ts';

/** The aggregation layer, which proxies to extension API servers, and to other servers on the same store. */
@Module({})
export class AggregatorModule {
  /** `storage`: the storage module. */
  static register(all: Pick<ServerConfig, 'aggregation' | 'controlPlane'>, storage: DynamicModule): DynamicModule {
    const config = all.aggregation ?? { rejectsRedirects: true };
    return {
      module: AggregatorModule,
      imports: [storage],
      providers: [
        {
          provide: Aggregation,
          useFactory: (
            client: LoopbackClient,
            services: ServiceResolver,
            features: FeatureGates,
            registry: LimitedRegistry,
            queues: WorkQueueMetrics,
            log: Log,
            lifetime: Lifetime,
          ) => lifetime.use(new Aggregation({ client, services, features, config, registry, queues, log })),
          inject: [LoopbackClient, ServiceResolver, FeatureGates, LimitedRegistry, WorkQueueMetrics, Log, Lifetime],
        },
        {
          provide: PeerServers,
          useFactory: (
            features: FeatureGates,
            client: LoopbackClient,
            { objects: storage }: OpenedStorage,
            registry: LimitedRegistry,
            log: Log,
            lifetime: Lifetime,
            egress?: EgressSelector,
          ) => lifetime.use(new PeerServers({ config: all, features, client, storage, dial: egress?.dial('controlplane'), registry, log })),
          inject: [FeatureGates, LoopbackClient, OpenedStorage, LimitedRegistry, Log, Lifetime, { token: EgressSelector, optional: true }],
        },
      ],
    };
  }
}
