import { Inject, Injectable } from '@nestjs/common';
import { ExternalContextCreator } from '@nestjs/core';
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
import type { RequestContext } from './request/request-context.ts';

/** A class whose method serves a verb of an endpoint. */
export interface VerbHandler {
  handle(context: RequestContext, endpoint: ResourceEndpoint): void | Promise<void>;
}

/** The providers behind the verbs. */
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

/** Turns handler classes into functions that run the guards and interceptors that Nest finds on them: compiled once, at start. */
@Injectable()
export class VerbCompiler {
  constructor(
    @Inject(ExternalContextCreator) private readonly creator: ExternalContextCreator,
    @Inject(GetHandler) private readonly get: GetHandler,
    @Inject(ListHandler) private readonly list: ListHandler,
    @Inject(WatchHandler) private readonly watch: WatchHandler,
    @Inject(CreateHandler) private readonly create: CreateHandler,
    @Inject(UpdateHandler) private readonly update: UpdateHandler,
    @Inject(PatchHandler) private readonly patch: PatchHandler,
    @Inject(DeleteHandler) private readonly remove: DeleteHandler,
    @Inject(DeleteCollectionHandler) private readonly removeAll: DeleteCollectionHandler,
  ) {}

  compile(handler: VerbHandler): EndpointHandler {
    return this.creator.create(
      handler as unknown as Record<string, unknown>,
      handler.handle as (...args: unknown[]) => unknown,
      'handle',
    ) as unknown as EndpointHandler;
  }

  #verbs: VerbHandlers | undefined;

  /** All verbs. Not before the application's providers are there: interceptors are looked up as instances. */
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
