import { type DynamicModule, Module } from '@nestjs/common';
import { Container } from 'inversify';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { AdmissionMetrics } from '#apiserver/admission/admission-metrics';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { AdmissionHandler, AdmissionPluginClass } from '#apiserver/admission/attributes';
import { guardAdmission } from '#apiserver/plugins/guard-admission';
import { contributionOf } from '#apiserver/plugins/loaded-contribution';
import { orderPlugins } from '#apiserver/plugins/order-plugins';
import { Logger } from '#apiserver/server/logger';
import { Metrics } from '#apiserver/server/metrics/metrics';
import { LimitedRegistry } from '#apiserver/server/metrics/limited-registry';
import { admissionPlugins } from '#cmd/builtin-plugins';
import type { ServerConfig } from '#cmd/server-config';
import { Contributions } from './contributions.ts';

/** Plugins of packages stand before the first of these unless they say where: these are to see what they did. */
const last = [
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
  'AlwaysDeny',
];

/** The admission chain of the plugins that are on. Global: controllers of packages use the interceptor. */
@Module({})
export class AdmissionModule {
  /** Throws for a name that no plugin has. */
  static register({
    admission: enabled,
    admissionConfigurations = new Map(),
  }: Pick<ServerConfig, 'admission' | 'admissionConfigurations'>): DynamicModule {
    const unknown = enabled.filter((name) => !admissionPlugins.has(name));
    if (unknown.length > 0) throw new Error(`no admission plugin is named ${unknown.map((name) => JSON.stringify(name)).join(', ')}`);
    return {
      module: AdmissionModule,
      global: true,
      providers: [
        {
          provide: AdmissionChain,
          useFactory: (services: Container, contributions: Contributions, registry: LimitedRegistry) =>
            new AdmissionChain(pluginsInOrder(services, enabled, admissionConfigurations, contributions), new AdmissionMetrics(registry)),
          inject: [Container, Contributions, LimitedRegistry],
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
  contributions: Contributions,
): AdmissionHandler[] {
  const plugins = new Map<string, AdmissionHandler>();
  for (const name of enabled)
    plugins.set(name, contributionOf(admissionPlugins.get(name) as AdmissionPluginClass, configurations.get(name)).make(services));
  const added = contributions.of('AdmissionPlugin').map(({ make, guard }) => {
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
