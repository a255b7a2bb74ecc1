import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { EndpointHandler } from '#apiserver/endpoints/handlers/resource-endpoint';
import { MinRequestTimeout } from '#apiserver/endpoints/handlers/watch';
import { Installer, type SpecialHandlers } from '#apiserver/endpoints/installer';
import { VerbCompiler, type VerbHandler, verbProviders } from '#apiserver/endpoints/verb-compiler';
import type { KubeObject, GroupResource } from '#apimachinery/meta/types';
import { CacherInformer, type Informer, Informers } from '#apiserver/registry/informers';
import { Scheme } from '#apiserver/registry/scheme';
import { StorageFactory } from '#apiserver/registry/storage-factory';
import type { Store } from '#apiserver/registry/store';
import { Stores } from '#apiserver/registry/stores';
import type { FeatureGates } from '#apiserver/base/feature-gates';
import { EgressSelector } from '#apiserver/network/egress-selector/egress-selector';
import { KubeletClientConfig, KubeletConnections } from '#kubernetes/apis/core/kubelet-connection';

/** Handler classes by endpoint (`group/resource/subresource`) and verb; each is a provider of the server module. */
export type SpecialHandlerClasses = Readonly<Record<string, Readonly<Record<string, Type<VerbHandler>>>>>;

/** What the server is made of besides. */
export interface ServerParts {
  /** Of resources that the scheme does not have. */
  storeOf(resource: GroupResource): Store | undefined;
  readonly features: FeatureGates;
  /** How the server reaches nodes; undefined, these three: as by default. */
  readonly kubelet: KubeletClientConfig | undefined;
  readonly egress: EgressSelector | undefined;
  /** How long a watch lasts at least, in seconds. */
  readonly minRequestTimeout: number | undefined;
}

/** The scheme, the storage, what reads it in process, and what makes endpoints of them. */
@Module({})
export class ServerModule {
  static register(scheme: Scheme, storage: StorageFactory, special: SpecialHandlerClasses, parts: ServerParts): DynamicModule {
    return {
      module: ServerModule,
      global: true,
      providers: [
        { provide: Scheme, useValue: scheme },
        { provide: StorageFactory, useValue: storage },
        { provide: Informers, useValue: informersOf(scheme, storage, parts.storeOf) },
        { provide: Stores, useValue: new Stores(scheme, storage) },
        { provide: KubeletClientConfig, useValue: parts.kubelet },
        { provide: EgressSelector, useValue: parts.egress },
        { provide: MinRequestTimeout, useValue: parts.minRequestTimeout },
        KubeletConnections,
        ...verbProviders,
        ...new Set(Object.values(special).flatMap((verbs) => Object.values(verbs))),
        VerbCompiler,
        {
          provide: Installer,
          useFactory: (compiler: VerbCompiler, module: ModuleRef) =>
            new Installer({ scheme, storage, verbs: compiler, special: compiled(special, compiler, module), features: parts.features }),
          inject: [VerbCompiler, ModuleRef],
        },
      ],
      exports: [Scheme, StorageFactory, Stores, Informers, Installer],
    };
  }
}

/** The handlers as functions. Like the verbs, they are compiled when they are first asked for: interceptors are looked up as instances. */
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

function informersOf(scheme: Scheme, storage: StorageFactory, storeOf: (resource: GroupResource) => Store | undefined): Informers {
  return {
    for<T extends KubeObject>(resource: GroupResource): Informer<T> {
      const definition = scheme.resource(resource);
      const store = definition?.storagePath ? storage.storeFor(definition, scheme.schemasOf(resource.group)) : storeOf(resource);
      if (!store) throw new Error(`informers: ${resource.resource}.${resource.group} is not stored here`);
      return new CacherInformer<T>(
        store.cacher,
        (namespace, name) => store.key(namespace, name),
        (namespace) => store.prefix(namespace),
      );
    },
  };
}
