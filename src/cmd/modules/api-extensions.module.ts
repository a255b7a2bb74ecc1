import { type DynamicModule, Module } from '@nestjs/common';
import { Installer } from '#apiserver/endpoints/installer';
import { LoopbackClient } from '#apiserver/server/loopback-client';
import { StorageFactory } from '#apiserver/registry/storage-factory';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { ServiceResolver } from '#apiserver/network/service-resolver';
import { ApiServers } from '#cmd/apis/api-servers';
import { ContributedGroups } from '#cmd/apis/contributed-groups';
import { CustomResources } from '#cmd/apis/custom-resources';
import { Log } from '#cmd/logging/log';
import { Lifetime } from './lifetime.ts';

/** Server of custom resources. */
@Module({})
export class ApiExtensionsModule {
  /** `endpoints`: the module that provides the installer. */
  static register(endpoints: DynamicModule): DynamicModule {
    return {
      module: ApiExtensionsModule,
      imports: [endpoints],
      providers: [
        {
          provide: CustomResources,
          useFactory: (
            { customResources: target }: ApiServers,
            { names: contributed }: ContributedGroups,
            installer: Installer,
            storage: StorageFactory,
            client: LoopbackClient,
            services: ServiceResolver,
            registry: LimitedRegistry,
            log: Log,
            lifetime: Lifetime,
          ) => lifetime.use(new CustomResources({ target, contributed, installer, storage, client, services, registry, log })),
          inject: [
            ApiServers,
            ContributedGroups,
            Installer,
            StorageFactory,
            LoopbackClient,
            ServiceResolver,
            LimitedRegistry,
            Log,
            Lifetime,
          ],
        },
      ],
    };
  }
}
