import { type DynamicModule, Module } from '@nestjs/common';
import { Container } from 'inversify';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { AdmissionMetrics } from '#apiserver/admission/admission-metrics';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { AdmissionHandler, AdmissionPluginOptions } from '#apiserver/admission/attributes';
import type { Contribution } from '#apiserver/plugins/contribute';
import { contributionOf } from '#apiserver/plugins/loaded-contribution';
import { PluginServices } from '#apiserver/plugins/plugin-services';
import { exceptionGroup } from '#apiserver/plugins/policy/exception-group';
import { ExceptionObjects } from '#apiserver/plugins/policy/exception-objects';
import { ExceptionStatuses } from '#apiserver/plugins/policy/exception-status';
import { ConfigurationError } from '#apiserver/plugins/read-configuration';
import type { ContributedGroupOptions } from '#apiserver/registry/contributed-group';
import { Scheme } from '#apiserver/registry/scheme';
import { matchProblems, matchTargets } from '#cmd/apis/match-problems';
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
  }: Pick<ServerConfig, 'admission' | 'admissionConfigurations'>): DynamicModule {
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
            refuseUseless(contributions, scheme);
            return new PackageAdmission(services, contributions, exceptionsOf(contributions, services, lifetime));
          },
          inject: [Container, Contributions, Scheme, Lifetime],
        },
        {
          provide: AdmissionChain,
          useFactory: (services: Container, builtIns: BuiltIns, ofPackages: PackageAdmission, registry: LimitedRegistry) => {
            const plugins = pluginsInOrder({ services, builtIns, ofPackages }, enabled, admissionConfigurations);
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

/** Throws a ConfigurationError that names each plugin of a package that would never be called. */
export function refuseUseless(contributions: Contributions, scheme: Scheme): void {
  const groups = contributions.of('ApiGroup').map(({ described }) => described.options as ContributedGroupOptions);
  const plugins = contributions.of('AdmissionPlugin');
  if (plugins.length === 0) return;
  const targets = matchTargets(scheme, groups);
  const problems = plugins.flatMap(({ described, origin }) => {
    const { name, match } = described.options as AdmissionPluginOptions;
    const subject = `${origin ? `plugin package ${origin.package}: ${origin.file === undefined ? '' : `${origin.file}: `}` : ''}admission plugin ${name}`;
    return matchProblems(match, targets).map((problem) => `${subject}: ${problem}`);
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
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
}

function pluginsInOrder(
  { services, builtIns, ofPackages }: PluginSources,
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
  const order = orderPlugins(enabled, added, anchor, new Set(own.keys()));
  return order.map((name) => plugins.get(name) as AdmissionHandler);
}
