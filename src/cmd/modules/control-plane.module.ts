import { type DynamicModule, Module } from '@nestjs/common';
import { LoopbackClient } from '#apiserver/server/loopback-client';
import { Scheme } from '#apiserver/registry/scheme';
import { FeatureGates } from '#apiserver/base/feature-gates';
import { ContributedGroups } from '#cmd/apis/contributed-groups';
import { ControlPlane } from '#kubernetes/controlplane/control-plane';
import { ServiceAllocators } from '#kubernetes/controlplane/services/service-allocators';
import { Log } from '#cmd/logging/log';
import { ServerPart } from '#cmd/modules/server-part';
import type { ServerConfig } from '#cmd/server-config';
import { OpenedStorage } from '#cmd/storage/opened-storage';
import { StorageVersions } from '#kubernetes/controlplane/storage-versions';

/** The control plane as a part of the server, which the serving module discovers. */
@ServerPart()
class ControlPlanePart extends ControlPlane implements ServerPart {}

/** Controllers of the server's own cluster: bootstrap objects, the kubernetes Service, leases, elections. */
@Module({})
export class ControlPlaneModule {
  /** `storage`: the storage module. */
  static register(config: Pick<ServerConfig, 'requests' | 'authentication' | 'controlPlane'>, storage: DynamicModule): DynamicModule {
    return {
      module: ControlPlaneModule,
      imports: [storage],
      providers: [
        {
          provide: ControlPlanePart,
          useFactory: (
            features: FeatureGates,
            client: LoopbackClient,
            services: ServiceAllocators,
            { objects }: OpenedStorage,
            log: Log,
            scheme: Scheme,
            contributed: ContributedGroups,
            storageVersions?: StorageVersions,
          ) => {
            const groups = [...scheme.groups, ...contributed.groups];
            return new ControlPlanePart({ config, features, client, services, storageVersions, storage: objects, log, groups });
          },
          inject: [
            FeatureGates,
            LoopbackClient,
            ServiceAllocators,
            OpenedStorage,
            Log,
            Scheme,
            ContributedGroups,
            { token: StorageVersions, optional: true },
          ],
        },
      ],
    };
  }
}
