import { type DynamicModule, Module } from '@nestjs/common';
import { ResourceConfig } from '#apiserver/server/resource-config';
import type { Clock } from '#apiserver/base/clock';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import type { TraceDocument } from '#apiserver/request/request-trace';
import { exceptionContributions } from '#apiserver/plugins/policy/exception-contributions';
import { ServedApis } from '#cmd/apis/served-apis';
import { defaultFeatureGates } from '#cmd/options/feature-options';
import type { ServerConfig } from '#cmd/server-config';
import { AdmissionModule } from './admission.module.ts';
import { AggregatorModule } from './aggregator.module.ts';
import { ApiExtensionsModule } from './api-extensions.module.ts';
import { ApiGroupsModule } from './api-groups.module.ts';
import { AuditModule } from './audit.module.ts';
import { AuthenticationModule } from './authentication.module.ts';
import { AuthorizationModule } from './authorization.module.ts';
import { Contributions } from './contributions.ts';
import { ControlPlaneModule } from './control-plane.module.ts';
import { ControllersModule } from './controllers.module.ts';
import { CoreModule } from './core.module.ts';
import { EndpointsModule } from './endpoints.module.ts';
import { FlowControlModule } from './flow-control.module.ts';
import type { Lifetime } from './lifetime.ts';
import { PackagesModule } from './packages.module.ts';
import { PluginServicesModule } from './plugin-services.module.ts';
import { RegistryModule } from './registry.module.ts';
import { ServiceAccountsModule } from './service-accounts.module.ts';
import { ServingModule } from './serving.module.ts';
import { StorageModule } from './storage.module.ts';
import { TracingModule } from './tracing.module.ts';

/** Additions to a server besides its configuration. */
export interface AppExtensions {
  /** Plugins besides those of the configured packages. */
  readonly plugins?: readonly LoadedContribution[] | undefined;
  /** Called with each traced request after its response. */
  readonly onTrace?: ((trace: TraceDocument) => void) | undefined;
  /** The clock of plugins and of their exceptions. Default: the system's. */
  readonly clock?: Clock | undefined;
}

/**
 * Root module of the server. Each module owns its part of the configuration, its metrics, its disposal (`Lifetime`) and its part of the
 * server (`ServerPart`: health checks, hooks, paths). Server parts are installed in the order of this list.
 */
@Module({})
export class AppModule {
  static register(config: ServerConfig, { plugins = [], onTrace, clock }: AppExtensions, lifetime: Lifetime): DynamicModule {
    const { features = defaultFeatureGates(), resourceConfig = new ResourceConfig() } = config;
    const apis = new ServedApis(resourceConfig, features, config.admission);
    const loaded = [...(config.plugins ?? []), ...plugins];
    const contributions = new Contributions([...loaded, ...exceptionContributions(loaded)]);

    const storage = StorageModule.register(config);
    const serviceAccounts = ServiceAccountsModule.register(config);
    const endpoints = EndpointsModule.register(config, serviceAccounts);
    const serving = ServingModule.register(
      config,
      [AuditModule.register(config), FlowControlModule.register(config), TracingModule.register(config)],
      onTrace,
    );
    return {
      module: AppModule,
      imports: [
        CoreModule.register(config, { apis, features, contributions, lifetime }),
        storage,
        RegistryModule.register(config, resourceConfig, storage),
        PluginServicesModule.register(config, clock),
        AuthenticationModule.register(config),
        AuthorizationModule.register(config),
        AdmissionModule.register(config),
        ApiGroupsModule.register(apis.groups, endpoints),
        serving,
        ApiExtensionsModule.register(endpoints),
        AggregatorModule.register(config, storage),
        ControlPlaneModule.register(config, storage),
        ControllersModule.register(config, serving, serviceAccounts),
        PackagesModule.register(contributions),
      ],
    };
  }
}
