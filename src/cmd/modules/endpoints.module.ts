import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { EndpointHandler } from '#apiserver/endpoints/handlers/resource-endpoint';
import { MinRequestTimeout } from '#apiserver/endpoints/handlers/watch';
import { Installer, type SpecialHandlers } from '#apiserver/endpoints/installer';
import { VerbCompiler, type VerbHandler, verbProviders } from '#apiserver/endpoints/verb-compiler';
import { Scheme } from '#apiserver/registry/scheme';
import { StorageFactory } from '#apiserver/registry/storage-factory';
import { FeatureGates } from '#apiserver/base/feature-gates';
import { type SpecialHandlerClasses, specialHandlers } from '#cmd/apis/special-handlers';
import type { ServerConfig } from '#cmd/server-config';
import { privilegedContainers } from '#kubernetes/apis/core/capabilities';
import { KubeletClientConfig, KubeletConnections } from '#kubernetes/apis/core/kubelet-connection';

/** Handlers of all verbs, and the installer that creates the endpoints of resources from them. */
@Module({})
export class EndpointsModule {
  /** `serviceAccounts`: the service accounts module. */
  static register(
    { kubelet, requests, allowPrivileged }: Pick<ServerConfig, 'kubelet' | 'requests' | 'allowPrivileged'>,
    serviceAccounts: DynamicModule,
  ): DynamicModule {
    const capabilities = new Set(allowPrivileged ? [privilegedContainers] : []);
    return {
      module: EndpointsModule,
      imports: [serviceAccounts],
      providers: [
        { provide: KubeletClientConfig, useValue: kubelet },
        { provide: MinRequestTimeout, useValue: requests.minTimeoutSeconds },
        KubeletConnections,
        ...verbProviders,
        ...new Set(Object.values(specialHandlers).flatMap((verbs) => Object.values(verbs))),
        VerbCompiler,
        {
          provide: Installer,
          useFactory: (scheme: Scheme, storage: StorageFactory, compiler: VerbCompiler, module: ModuleRef, features: FeatureGates) =>
            new Installer({
              scheme,
              storage,
              verbs: compiler,
              special: compiled(specialHandlers, compiler, module),
              features,
              capabilities,
            }),
          inject: [Scheme, StorageFactory, VerbCompiler, ModuleRef, FeatureGates],
        },
      ],
      exports: [Installer],
    };
  }
}

/** Returns the handlers as functions. Like the verbs, they are compiled on first use, because interceptors are looked up as instances. */
function compiled(special: SpecialHandlerClasses, compiler: VerbCompiler, module: ModuleRef): SpecialHandlers {
  const handlers = new Map<Type<VerbHandler>, EndpointHandler>();
  const handlerOf = (type: Type<VerbHandler>): EndpointHandler => {
    let handler = handlers.get(type);
    if (!handler) {
      handler = compiler.compile(module.get(type));
      handlers.set(type, handler);
    }
    return handler;
  };
  return {
    get(key) {
      const classes = Object.hasOwn(special, key) ? special[key] : undefined;
      return classes && Object.fromEntries(Object.entries(classes).map(([verb, type]) => [verb, handlerOf(type)]));
    },
  };
}
