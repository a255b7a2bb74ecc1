import { type DynamicModule, Module } from '@nestjs/common';
import { Container } from 'inversify';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { AdmissionHandler, AdmissionPluginClass } from '#apiserver/admission/attributes';
import { newPlugin } from '#apiserver/plugins/new-plugin';
import { admissionPlugins } from '#cmd/builtin-plugins';

/** The admission chain of the plugins that are on. */
@Module({})
export class AdmissionModule {
  /** `enabled`: names, in their order; `more`: plugins that run after them. Throws for a name that no plugin has. */
  static register(enabled: readonly string[], more: readonly AdmissionPluginClass[] = []): DynamicModule {
    const unknown = enabled.filter((name) => !admissionPlugins.has(name));
    if (unknown.length > 0) throw new Error(`no admission plugin is named ${unknown.map((name) => JSON.stringify(name)).join(', ')}`);
    const classes = [...enabled.map((name) => admissionPlugins.get(name) as AdmissionPluginClass), ...more];
    return {
      module: AdmissionModule,
      global: true,
      providers: [
        {
          provide: AdmissionChain,
          useFactory: (services: Container) => new AdmissionChain(classes.map((Plugin) => newAdmissionPlugin(services, Plugin))),
          inject: [Container],
        },
        AdmissionInterceptor,
      ],
      exports: [AdmissionChain, AdmissionInterceptor],
    };
  }
}

function newAdmissionPlugin(services: Container, Plugin: AdmissionPluginClass): AdmissionHandler {
  return newPlugin(services, admissionPluginOptions(Plugin).name, Plugin);
}
