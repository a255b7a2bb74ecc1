import { type DynamicModule, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { Installer } from '#apiserver/endpoints/installer';
import type { ApiGroup } from '#apiserver/registry/api-group';
import type { ApiServerTarget } from '#apiserver/server/api-server-target';

/** One API group as a module of the application: it installs its endpoints into its server. */
@Module({})
export class ApiGroupModule {
  static register(group: ApiGroup, target: ApiServerTarget): DynamicModule {
    @Module({})
    class Registered implements OnModuleInit {
      constructor(@Inject(Installer) private readonly installer: Installer) {}

      onModuleInit(): void {
        target.install(group, this.installer.install(group));
      }
    }
    Object.defineProperty(Registered, 'name', { value: `ApiGroupModule(${group.group || 'core'})` });
    return { module: Registered };
  }
}
