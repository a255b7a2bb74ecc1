import { hostname } from 'node:os';
import { type DynamicModule, Module } from '@nestjs/common';
import { EgressSelector } from '#apiserver/network/egress-selector/egress-selector';
import { Log } from '#cmd/logging/log';
import type { ServerConfig } from '#cmd/server-config';
import { newTracing, Tracing } from '#cmd/serving/tracing';
import { apiServerId } from '#kubernetes/controlplane/identity-lease';
import { Lifetime } from './lifetime.ts';

/** Exporter of spans; none without a configured collector. */
@Module({})
export class TracingModule {
  static register({ tracing: config }: Pick<ServerConfig, 'tracing'>): DynamicModule {
    return {
      module: TracingModule,
      providers: [
        {
          provide: Tracing,
          useFactory: async (log: Log, lifetime: Lifetime, egress?: EgressSelector): Promise<Tracing | undefined> =>
            config && lifetime.use(await newTracing(config, log, apiServerId(hostname()), egress?.dial('controlplane'))),
          inject: [Log, Lifetime, { token: EgressSelector, optional: true }],
        },
      ],
      exports: [Tracing],
    };
  }
}
