import { DiscoveryService } from '@nestjs/core';

/** Kinds of mechanisms that a part of the ServerConfiguration enables. */
export type SourceKind = 'Authenticator' | 'Authorizer';

/** Marks a provider that creates mechanisms of a kind from the configuration. Modules discover the providers in their order. */
export const Source = DiscoveryService.createDecorator<{ readonly kind: SourceKind; readonly name: string }>();

/** Returns the sources of a kind by name. Requires that the providers are instantiated. */
export function sourcesOf<T>(discovery: DiscoveryService, kind: SourceKind): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const wrapper of discovery.getProviders()) {
    const source = wrapper.instance?.constructor && discovery.getMetadataByDecorator(Source, wrapper);
    if (source && source.kind === kind) found.set(source.name, wrapper.instance as T);
  }
  return found;
}
