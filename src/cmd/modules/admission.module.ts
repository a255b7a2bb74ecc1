import { type DynamicModule, Module } from '@nestjs/common';
import { Container } from 'inversify';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import type { AdmissionMetrics } from '#apiserver/admission/admission-metrics';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { AdmissionHandler, AdmissionPluginClass } from '#apiserver/admission/attributes';
import { guardAdmission } from '#apiserver/plugins/guard-admission';
import { contributionOf, contributionsOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { orderPlugins } from '#apiserver/plugins/order-plugins';
import { Logger } from '#apiserver/base/logger';
import { Metrics } from '#apiserver/base/metrics/metrics';
import { admissionPlugins } from '#cmd/builtin-plugins';

/** Plugins of packages stand before the first of these unless they say where: these are to see what they did. */
const last = [
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
  'AlwaysDeny',
];

/** The admission chain of the plugins that are on. */
@Module({})
export class AdmissionModule {
  /** `enabled`: names of built-in ones, in their order; `configurations`: of those that are not to have their defaults. Throws for a name that no plugin has. */
  static register(
    enabled: readonly string[],
    configurations: ReadonlyMap<string, object> = new Map(),
    contributions: readonly LoadedContribution[] = [],
    metrics?: AdmissionMetrics,
  ): DynamicModule {
    const unknown = enabled.filter((name) => !admissionPlugins.has(name));
    if (unknown.length > 0) throw new Error(`no admission plugin is named ${unknown.map((name) => JSON.stringify(name)).join(', ')}`);
    return {
      module: AdmissionModule,
      global: true,
      providers: [
        {
          provide: AdmissionChain,
          useFactory: (services: Container) =>
            new AdmissionChain(pluginsInOrder(services, enabled, configurations, contributions), metrics),
          inject: [Container],
        },
        AdmissionInterceptor,
      ],
      exports: [AdmissionChain, AdmissionInterceptor],
    };
  }
}

function pluginsInOrder(
  services: Container,
  enabled: readonly string[],
  configurations: ReadonlyMap<string, object>,
  contributions: readonly LoadedContribution[],
): AdmissionHandler[] {
  const plugins = new Map<string, AdmissionHandler>();
  for (const name of enabled)
    plugins.set(name, contributionOf(admissionPlugins.get(name) as AdmissionPluginClass, configurations.get(name)).make(services));
  const added = contributionsOf(contributions, 'AdmissionPlugin').map(({ make, guard }) => {
    const plugin = make(services) as AdmissionHandler;
    const options = admissionPluginOptions(plugin);
    const help = { logger: services.get<Logger>(Logger), metrics: services.get<Metrics>(Metrics) };
    plugins.set(options.name, guardAdmission(plugin, guard, help));
    return options;
  });
  const anchor = enabled.find((name) => last.includes(name));
  const order = orderPlugins(enabled, added, anchor, new Set(admissionPlugins.keys()));
  return order.map((name) => plugins.get(name) as AdmissionHandler);
}
