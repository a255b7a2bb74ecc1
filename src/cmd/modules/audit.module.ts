import { type DynamicModule, Module } from '@nestjs/common';
import { Container } from 'inversify';
import { AuditMetrics } from '#apiserver/audit/audit-metrics';
import { EgressSelector } from '#apiserver/network/egress-selector/egress-selector';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { Log } from '#cmd/logging/log';
import type { ServerConfig } from '#cmd/server-config';
import { ConfiguredAuditing, newContributedAuditing } from '#cmd/serving/auditing';
import { AuditLog } from '#plugins/audit/log';
import { AuditWebhook } from '#plugins/audit/webhook';
import { BuiltIns, contributionProviders } from './built-ins.ts';
import { Contributions } from './contributions.ts';
import { Lifetime } from './lifetime.ts';

/** Audit policy and backends. */
@Module({})
export class AuditModule {
  static register({ audit }: Pick<ServerConfig, 'audit'>): DynamicModule {
    return {
      module: AuditModule,
      providers: [
        ...contributionProviders([AuditLog, AuditWebhook]),
        {
          provide: ConfiguredAuditing,
          useFactory(
            contributions: Contributions,
            services: Container,
            logger: Log,
            registry: LimitedRegistry,
            lifetime: Lifetime,
            builtIns: BuiltIns,
            egress?: EgressSelector,
          ): ConfiguredAuditing {
            const dial = egress?.dial('controlplane');
            const auditing = newContributedAuditing(audit, contributions, services, builtIns, {
              logger,
              metrics: new AuditMetrics(registry),
              dial,
            });
            if (auditing) lifetime.defer(() => auditing.backend.shutDown());
            return auditing;
          },
          inject: [Contributions, Container, Log, LimitedRegistry, Lifetime, BuiltIns, { token: EgressSelector, optional: true }],
        },
      ],
      exports: [ConfiguredAuditing],
    };
  }
}
