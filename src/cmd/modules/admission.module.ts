import { type DynamicModule, Module } from '@nestjs/common';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { AdmissionHandler } from '#apiserver/admission/attributes';
import { Informers } from '#apiserver/registry/informers';
import { type AdmissionPluginClass, admissionPlugins } from '#cmd/builtin-plugins';

/** The admission chain of the plugins that are on. */
@Module({})
export class AdmissionModule {
  /** `enabled`: names, in their order; `more`: plugins that run after them. Throws for a name that no plugin has. */
  static register(enabled: readonly string[], more: readonly AdmissionPluginClass[] = []): DynamicModule {
    const unknown = enabled.filter((name) => !admissionPlugins.has(name));
    if (unknown.length > 0) throw new Error(`no admission plugin is named ${unknown.map((name) => JSON.stringify(name)).join(', ')}`);
    return {
      module: AdmissionModule,
      global: true,
      providers: [
        {
          provide: AdmissionChain,
          useFactory: (informers: Informers) =>
            new AdmissionChain([...enabled.map((name) => newPlugin(name, informers)), ...more.map((Plugin) => new Plugin(informers))]),
          inject: [Informers],
        },
        AdmissionInterceptor,
      ],
      exports: [AdmissionChain, AdmissionInterceptor],
    };
  }
}

function newPlugin(name: string, informers: Informers): AdmissionHandler {
  const Plugin = admissionPlugins.get(name);
  if (!Plugin) throw new Error(`no admission plugin is named ${JSON.stringify(name)}`);
  const plugin = new Plugin(informers);
  if (admissionPluginOptions(plugin).name !== name)
    throw new Error(`admission plugin ${name} calls itself ${admissionPluginOptions(plugin).name}`);
  return plugin;
}
