import { DiscoveryService } from '@nestjs/core';
import type { GenericServer } from '#apiserver/server/generic-server';
import type { Published } from '#cmd/serving/non-resource-routes';

/** A module's part of the server: its health checks, hooks and paths. */
export interface ServerPart {
  /** Called once, after all providers exist and before the server starts. */
  install(server: GenericServer, published: Published): void;
}

/** Marks a provider class as a ServerPart. The serving module discovers them in the order of the modules in AppModule. */
export const ServerPart = DiscoveryService.createDecorator();

/** Returns all parts of an application, in the order of their modules. */
export function serverPartsOf(discovery: DiscoveryService): ServerPart[] {
  return discovery
    .getProviders()
    .filter((wrapper) => wrapper.instance?.constructor && discovery.getMetadataByDecorator(ServerPart, wrapper) !== undefined)
    .map(({ instance }) => instance as ServerPart);
}
