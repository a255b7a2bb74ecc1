import { Inject, Injectable, type Type } from '@nestjs/common';
import { EXCEPTION_FILTERS_METADATA, GUARDS_METADATA, INTERCEPTORS_METADATA, PIPES_METADATA } from '@nestjs/common/constants.js';
import { ModuleRef } from '@nestjs/core';
import { CreateHandler } from './handlers/create.ts';
import { DeleteCollectionHandler } from './handlers/delete-collection.ts';
import { DeleteHandler } from './handlers/delete.ts';
import { GetHandler } from './handlers/get.ts';
import { ListHandler } from './handlers/list.ts';
import { PatchHandler } from './handlers/patch.ts';
import type { EndpointHandler, ResourceEndpoint } from './handlers/resource-endpoint.ts';
import { UpdateHandler } from './handlers/update.ts';
import { WatchHandler } from './handlers/watch.ts';
import type { VerbHandlers } from './installer.ts';
import type { OpeningInterceptor } from '#apiserver/request/opening-interceptor';
import type { RequestContext } from '#apiserver/request/request-context';

/** A class whose method serves a verb of an endpoint. */
export interface VerbHandler {
  handle(context: RequestContext, endpoint: ResourceEndpoint): void | Promise<void>;
}

/** Other Nest metadata that handlers may have. */
const others = [GUARDS_METADATA, PIPES_METADATA, EXCEPTION_FILTERS_METADATA];

/** Providers of the verb handlers. */
export const verbProviders = [
  GetHandler,
  ListHandler,
  WatchHandler,
  CreateHandler,
  UpdateHandler,
  PatchHandler,
  DeleteHandler,
  DeleteCollectionHandler,
];

/** Compiles handler classes to functions that run the guards and interceptors declared on them, once at start. See docs/adr. */
@Injectable()
export class VerbCompiler {
  constructor(
    @Inject(ModuleRef) private readonly modules: ModuleRef,
    @Inject(GetHandler) private readonly get: GetHandler,
    @Inject(ListHandler) private readonly list: ListHandler,
    @Inject(WatchHandler) private readonly watch: WatchHandler,
    @Inject(CreateHandler) private readonly create: CreateHandler,
    @Inject(UpdateHandler) private readonly update: UpdateHandler,
    @Inject(PatchHandler) private readonly patch: PatchHandler,
    @Inject(DeleteHandler) private readonly remove: DeleteHandler,
    @Inject(DeleteCollectionHandler) private readonly removeAll: DeleteCollectionHandler,
  ) {}

  /** Throws for a handler with a guard, pipe, filter or other interceptor: none of them would run. */
  compile(handler: VerbHandler): EndpointHandler {
    const interceptors = this.#openingInterceptors(handler);
    return (context, endpoint) => {
      for (const interceptor of interceptors) interceptor.open(context, endpoint);
      return handler.handle(context, endpoint);
    };
  }

  #openingInterceptors(handler: VerbHandler): OpeningInterceptor[] {
    const places = [handler.constructor, handler.handle];
    const classes = places.flatMap(
      (place) => (Reflect.getMetadata(INTERCEPTORS_METADATA, place) ?? []) as Type<Partial<OpeningInterceptor>>[],
    );
    const interceptors = classes.map((one) => (typeof one === 'function' ? this.modules.get(one, { strict: false }) : one));
    const isOther = others.some((metadata) => places.some((place) => Reflect.hasMetadata(metadata, place)));
    if (isOther || !interceptors.every((one): one is OpeningInterceptor => one.open !== undefined))
      throw new Error(`${handler.constructor.name}: handlers of verbs have opening interceptors only`);
    return interceptors;
  }

  #verbs: VerbHandlers | undefined;

  /** Handlers of all verbs. Available after the application's providers, because interceptors are looked up as instances. */
  get verbs(): VerbHandlers {
    return (this.#verbs ??= {
      get: this.compile(this.get),
      list: this.compile(this.list),
      watch: this.compile(this.watch),
      create: this.compile(this.create),
      update: this.compile(this.update),
      patch: this.compile(this.patch),
      delete: this.compile(this.remove),
      deletecollection: this.compile(this.removeAll),
    });
  }
}
