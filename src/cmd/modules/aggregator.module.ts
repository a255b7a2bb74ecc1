import { type DynamicModule, Module } from '@nestjs/common';
import { LoopbackClient } from '#apiserver/server/loopback-client';
import { WorkQueueMetrics } from '#apiserver/base/metrics/workqueue-metrics';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { ServiceResolver } from '#apiserver/network/service-resolver';
import { Aggregation } from '#cmd/apis/aggregation';
import { Log } from '#cmd/logging/log';
import type { ServerConfig } from '#cmd/server-config';
import { Lifetime } from './lifetime.ts';

/** The aggregation layer, which proxies to extension API servers. */
@Module({})
export class AggregatorModule {
  static register({ aggregation: config = { rejectsRedirects: true } }: Pick<ServerConfig, 'aggregation'>): DynamicModule {
    return {
      module: AggregatorModule,
      providers: [
        {
          provide: Aggregation,
          useFactory: (
            client: LoopbackClient,
            services: ServiceResolver,
            registry: LimitedRegistry,
            queues: WorkQueueMetrics,
            log: Log,
            lifetime: Lifetime,
          ) => lifetime.use(new Aggregation({ client, services, config, registry, queues, log })),
          inject: [LoopbackClient, ServiceResolver, LimitedRegistry, WorkQueueMetrics, Log, Lifetime],
        },
      ],
    };
  }
}
