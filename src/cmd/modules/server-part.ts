import { DiscoveryService } from '@nestjs/core';
import type { GenericServer } from '#apiserver/server/generic-server';
import type { Published } from '#cmd/serving/non-resource-routes';

/** The part that a module has in the server: its health checks, hooks and paths. */
export interface ServerPart {
  /** Called once, when all providers exist and before the server starts. */
  install(server: GenericServer, published: Published): void;
}

/** Marks a class of providers as ServerPart. The serving module finds them, in the order of the modules in AppModule. */
export const ServerPart = DiscoveryService.createDecorator();

/** All parts of an application, in the order of their modules. */
export function serverPartsOf(discovery: DiscoveryService): ServerPart[] {
  return discovery
    .getProviders()
    .filter((wrapper) => wrapper.instance?.constructor && discovery.getMetadataByDecorator(ServerPart, wrapper) !== undefined)
    .map(({ instance }) => instance as ServerPart);
}
