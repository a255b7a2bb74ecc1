import { type DynamicModule, Module } from '@nestjs/common';
import { Installer, type SpecialHandlers } from '#apiserver/endpoints/installer';
import { VerbCompiler, verbProviders } from '#apiserver/endpoints/verb-compiler';
import type { KubeObject, GroupResource } from '#apimachinery/meta/types';
import { CacherInformer, type Informer, Informers } from '#apiserver/registry/informers';
import { Scheme } from '#apiserver/registry/scheme';
import { StorageFactory } from '#apiserver/registry/storage-factory';

/** The scheme, the storage, what reads it in process, and what makes endpoints of them. */
@Module({})
export class ServerModule {
  static register(scheme: Scheme, storage: StorageFactory, special: SpecialHandlers): DynamicModule {
    return {
      module: ServerModule,
      global: true,
      providers: [
        { provide: Scheme, useValue: scheme },
        { provide: StorageFactory, useValue: storage },
        { provide: Informers, useValue: informersOf(scheme, storage) },
        ...verbProviders,
        VerbCompiler,
        { provide: Installer, useFactory: (compiler: VerbCompiler) => new Installer({ scheme, storage, verbs: compiler, special }), inject: [VerbCompiler] },
      ],
      exports: [Scheme, StorageFactory, Informers, Installer],
    };
  }
}

function informersOf(scheme: Scheme, storage: StorageFactory): Informers {
  return {
    for<T extends KubeObject>(resource: GroupResource): Informer<T> {
      const definition = scheme.resource(resource);
      if (!definition?.storagePath) throw new Error(`informers: ${resource.resource}.${resource.group} is not stored here`);
      const store = storage.storeFor(definition, scheme.schemasOf(resource.group));
      return new CacherInformer<T>(store.cacher, (namespace, name) => store.key(namespace, name), (namespace) => store.prefix(namespace));
    },
  };
}
