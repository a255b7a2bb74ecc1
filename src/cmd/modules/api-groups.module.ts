import { type DynamicModule, Inject, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { Installer } from '#apiserver/endpoints/installer';
import type { GenericServer } from '#apiserver/server/generic-server';
import { ApiServers } from '#cmd/apis/api-servers';
import { ContributedGroups } from '#cmd/apis/contributed-groups';
import type { Published } from '#cmd/serving/non-resource-routes';
import { ServerPart } from './server-part.ts';
import type { PlacedGroup } from '#cmd/apis/served-apis';

/** Serves and publishes the groups of packages. */
@Injectable()
@ServerPart()
class ContributedApis implements ServerPart {
  constructor(
    @Inject(ContributedGroups) private readonly groups: ContributedGroups,
    @Inject(Installer) private readonly installer: Installer,
    @Inject(ApiServers) private readonly servers: ApiServers,
  ) {}

  install(_server: GenericServer, published: Published): void {
    this.groups.install(this.installer, this.servers.contributed, published);
  }
}

/** Built-in API groups, each in its own module, and the groups of packages. */
@Module({})
export class ApiGroupsModule {
  /** `endpoints`: the module that provides the installer. */
  static register(groups: readonly PlacedGroup[], endpoints: DynamicModule): DynamicModule {
    return {
      module: ApiGroupsModule,
      imports: [endpoints, ...groups.map((group) => apiGroupModule(group, endpoints))],
      providers: [ContributedApis],
    };
  }
}

/** Returns the module of one API group, which installs the endpoints into its server. */
function apiGroupModule({ group, target }: PlacedGroup, endpoints: DynamicModule): DynamicModule {
  @Module({})
  class ApiGroupModule implements OnModuleInit {
    constructor(@Inject(Installer) private readonly installer: Installer) {}

    onModuleInit(): void {
      target.install(group, this.installer.install(group));
    }
  }
  Object.defineProperty(ApiGroupModule, 'name', { value: `ApiGroupModule(${group.group || 'core'})` });
  return { module: ApiGroupModule, imports: [endpoints] };
}
