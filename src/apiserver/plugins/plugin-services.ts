import { Container } from 'inversify';
import { Manifests } from '#apiserver/admission/manifest/manifests';
import { Authorizer } from '#apiserver/authorization/authorizer';
import { Client } from '#apiserver/registry/client';
import { Informers } from '#apiserver/registry/informers';
import { ServedKinds } from '#apiserver/registry/served-kinds';
import { FeatureGates } from '#apiserver/base/feature-gates';
import { ShutdownSignal } from '#apiserver/base/shutdown-signal';
import { Logger } from '#apiserver/base/logger';
import { Metrics } from '#apiserver/base/metrics/metrics';
import { RestMapper } from '#apiserver/server/rest-mapper';
import { ServiceResolver } from '#apiserver/network/service-resolver';
import { Clock } from '#apiserver/base/clock';

/** Services for plugins. A plugin injects a member by the token of its type: `@inject(Informers) informers: Informers`. */
export interface PluginServices {
  readonly informers: Informers;
  readonly client: Client;
  readonly servedKinds: ServedKinds;
  readonly authorizer: Authorizer;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly serviceResolver: ServiceResolver;
  readonly restMapper: RestMapper;
  readonly manifests: Manifests;
  readonly clock: Clock;
  readonly featureGates: FeatureGates;
  readonly shutdownSignal: ShutdownSignal;
}

/** Injection token of all services, for plugins that pass them on. */
export const PluginServices = Symbol.for('kubenest.PluginServices');

/** Injection tokens by member. */
export const serviceTokens: Readonly<Record<keyof PluginServices, symbol>> = {
  informers: Informers,
  client: Client,
  servedKinds: ServedKinds,
  authorizer: Authorizer,
  logger: Logger,
  metrics: Metrics,
  serviceResolver: ServiceResolver,
  restMapper: RestMapper,
  manifests: Manifests,
  clock: Clock,
  featureGates: FeatureGates,
  shutdownSignal: ShutdownSignal,
};

/** Creates the parent of the plugins' containers. */
export function newServiceContainer(services: PluginServices): Container {
  const container = new Container();
  container.bind(PluginServices).toConstantValue(services);
  for (const [name, token] of Object.entries(serviceTokens)) container.bind(token).toConstantValue(services[name as keyof PluginServices]);
  return container;
}
