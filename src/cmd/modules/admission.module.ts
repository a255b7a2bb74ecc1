import { type DynamicModule, Module } from '@nestjs/common';
import { Container } from 'inversify';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { AdmissionMetrics } from '#apiserver/admission/admission-metrics';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { AdmissionHandler } from '#apiserver/admission/attributes';
import type { Contribution } from '#apiserver/plugins/contribute';
import { contributionOf } from '#apiserver/plugins/loaded-contribution';
import { PluginServices } from '#apiserver/plugins/plugin-services';
import { exceptionGroup } from '#apiserver/plugins/policy/exception-group';
import { ExceptionObjects } from '#apiserver/plugins/policy/exception-objects';
import { ExceptionStatuses } from '#apiserver/plugins/policy/exception-status';
import type { ContributedGroupOptions } from '#apiserver/registry/contributed-group';
import { Scheme } from '#apiserver/registry/scheme';
import { refuseUseless } from '#cmd/apis/useless-plugins';
import { orderPlugins } from '#apiserver/plugins/order-plugins';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { admissionPlugins } from '#cmd/builtin-plugins';
import type { ServerConfig } from '#cmd/server-config';
import { BuiltIns, contributionProviders } from './built-ins.ts';
import { Contributions } from './contributions.ts';
import { Lifetime } from './lifetime.ts';
import { PackageAdmission } from './package-admission.ts';

/** Plugins that see the result of all others. A package's plugin runs before the first of these unless it declares a position. */
const last = [
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
  'AlwaysDeny',
];

/** Admission chain of the enabled plugins. Global, because controllers of packages use the interceptor. */
@Module({})
export class AdmissionModule {
  /** Throws for an unknown plugin name. */
  static register({
    admission: enabled,
    admissionConfigurations = new Map(),
    disabledPlugins = [],
  }: Pick<ServerConfig, 'admission' | 'admissionConfigurations' | 'disabledPlugins'>): DynamicModule {
    const unknown = enabled.filter((name) => !admissionPlugins.has(name));
    if (unknown.length > 0) throw new Error(`unknown admission plugin ${unknown.map((name) => JSON.stringify(name)).join(', ')}`);
    return {
      module: AdmissionModule,
      global: true,
      providers: [
        ...contributionProviders(admissionPlugins.values()),
        {
          provide: PackageAdmission,
          useFactory: (services: Container, contributions: Contributions, scheme: Scheme, lifetime: Lifetime) => {
            refuseUseless(contributions.all, scheme);
            return new PackageAdmission(services, contributions, exceptionsOf(contributions, services, lifetime));
          },
          inject: [Container, Contributions, Scheme, Lifetime],
        },
        {
          provide: AdmissionChain,
          useFactory: (services: Container, builtIns: BuiltIns, ofPackages: PackageAdmission, registry: LimitedRegistry) => {
            const plugins = pluginsInOrder({ services, builtIns, ofPackages, disabled: disabledPlugins }, enabled, admissionConfigurations);
            return new AdmissionChain(plugins, new AdmissionMetrics(registry));
          },
          inject: [Container, BuiltIns, PackageAdmission, LimitedRegistry],
        },
        AdmissionInterceptor,
      ],
      exports: [AdmissionChain, AdmissionInterceptor, PackageAdmission],
    };
  }
}

/** Follows the exceptions that are API objects, if the server has their API. */
function exceptionsOf(contributions: Contributions, services: Container, lifetime: Lifetime): ExceptionObjects | undefined {
  const isServed = contributions
    .of('ApiGroup')
    .some(({ described }) => (described.options as ContributedGroupOptions).group === exceptionGroup.group);
  if (!isServed) return undefined;
  const { informers, client, clock, logger } = services.get<PluginServices>(PluginServices);
  const exceptions = lifetime.use(new ExceptionObjects(informers, logger));
  lifetime.use(new ExceptionStatuses(exceptions, { client, clock, logger }));
  contributions.exceptionObjects = exceptions;
  return exceptions;
}

interface PluginSources {
  readonly services: Container;
  readonly builtIns: BuiltIns;
  readonly ofPackages: PackageAdmission;
  /** Names of plugins of packages that are not created. */
  readonly disabled: readonly string[];
}

function pluginsInOrder(
  { services, builtIns, ofPackages, disabled }: PluginSources,
  enabled: readonly string[],
  configurations: ReadonlyMap<string, object>,
): AdmissionHandler[] {
  const plugins = new Map<string, AdmissionHandler>();
  const own = builtIns.of('AdmissionPlugin');
  for (const name of enabled) plugins.set(name, contributionOf(own.get(name) as Contribution, configurations.get(name)).make(services));
  const added = ofPackages.plugins.map((plugin) => {
    const options = admissionPluginOptions(plugin);
    plugins.set(options.name, plugin);
    return options;
  });
  const anchor = enabled.find((name) => last.includes(name));
  const order = orderPlugins(enabled, added, anchor, new Set([...own.keys(), ...disabled]));
  return order.map((name) => plugins.get(name) as AdmissionHandler);
}
