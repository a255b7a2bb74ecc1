import { type DynamicModule, Module } from '@nestjs/common';
import { Container } from 'inversify';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { AdmissionMetrics } from '#apiserver/admission/admission-metrics';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { AdmissionHandler } from '#apiserver/admission/attributes';
import type { Contribution } from '#apiserver/plugins/contribute';
import { guardAdmission } from '#apiserver/plugins/guard-admission';
import { contributionOf } from '#apiserver/plugins/loaded-contribution';
import { orderPlugins } from '#apiserver/plugins/order-plugins';
import { PluginFailures } from '#apiserver/plugins/plugin-failures';
import { Logger } from '#apiserver/base/logger';
import { Metrics } from '#apiserver/base/metrics/metrics';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { admissionPlugins } from '#cmd/builtin-plugins';
import type { ServerConfig } from '#cmd/server-config';
import { BuiltIns, contributionProviders } from './built-ins.ts';
import { Contributions } from './contributions.ts';

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
          provide: AdmissionChain,
          useFactory: (services: Container, builtIns: BuiltIns, contributions: Contributions, registry: LimitedRegistry) => {
            const plugins = pluginsInOrder({ services, builtIns, contributions }, enabled, admissionConfigurations);
            return new AdmissionChain(plugins, new AdmissionMetrics(registry));
          },
          inject: [Container, BuiltIns, Contributions, LimitedRegistry],
        },
        AdmissionInterceptor,
      ],
      exports: [AdmissionChain, AdmissionInterceptor],
    };
  }
}

interface PluginSources {
  readonly services: Container;
  readonly builtIns: BuiltIns;
  readonly contributions: Contributions;
}

function pluginsInOrder(
  { services, builtIns, contributions }: PluginSources,
  enabled: readonly string[],
  configurations: ReadonlyMap<string, object>,
): AdmissionHandler[] {
  const plugins = new Map<string, AdmissionHandler>();
  const own = builtIns.of('AdmissionPlugin');
  for (const name of enabled) plugins.set(name, contributionOf(own.get(name) as Contribution, configurations.get(name)).make(services));
  const failures = new PluginFailures(services.get<Logger>(Logger), services.get<Metrics>(Metrics));
  const added = contributions.of('AdmissionPlugin').map(({ make, guard, package: from }) => {
    const plugin = make(services) as AdmissionHandler;
    const options = admissionPluginOptions(plugin);
    plugins.set(options.name, guardAdmission(plugin, guard, failures, from));
    return options;
  });
  const anchor = enabled.find((name) => last.includes(name));
  const order = orderPlugins(enabled, added, anchor, new Set(own.keys()));
  return order.map((name) => plugins.get(name) as AdmissionHandler);
}
