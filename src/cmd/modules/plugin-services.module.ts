import { hostname } from 'node:os';
import { type DynamicModule, Module } from '@nestjs/common';
import { Container } from 'inversify';
import { ManifestCodec } from '#apiserver/admission/manifest/manifest-codec';
import { ManifestMetrics } from '#apiserver/admission/manifest/manifest-metrics';
import { ManifestFolders } from '#apiserver/admission/manifest/manifests';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import { newServiceContainer, type PluginServices, serviceTokens } from '#apiserver/plugins/plugin-services';
import { Informers } from '#apiserver/registry/informers';
import { LoopbackClient } from '#apiserver/server/loopback-client';
import { Scheme } from '#apiserver/registry/scheme';
import { ChainKinds } from '#apiserver/server/chain-kinds';
import { EgressSelector } from '#apiserver/network/egress-selector/egress-selector';
import { FeatureGates } from '#apiserver/base/feature-gates';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { RegistryMetrics } from '#apiserver/base/metrics/metrics';
import { EndpointMapper } from '#apiserver/server/rest-mapper';
import { type Clock, systemClock } from '#apiserver/base/clock';
import { ApiServers } from '#cmd/apis/api-servers';
import { Log } from '#cmd/logging/log';
import type { ServerConfig } from '#cmd/server-config';
import { UserRequests } from '#cmd/serving/user-requests';
import { apiServerId } from '#kubernetes/controlplane/identity-lease';
import { ClusterIPResolver, EndpointsResolver } from '#kubernetes/controlplane/services/service-resolvers';
import { Lifetime } from './lifetime.ts';

/** Services that controllers of packages inject by the same tokens as plugins. Other global modules provide the remaining tokens. */
const forPages = Object.values(serviceTokens).filter((token) => token !== Informers && token !== FeatureGates);

/**
 * Services that plugins can inject, in one container that is created at startup. Global, because the modules of packages inject from it and
 * cannot import it.
 */
@Module({})
export class PluginServicesModule {
  static register({ routesToEndpoints }: Pick<ServerConfig, 'routesToEndpoints'>, clock: Clock = systemClock): DynamicModule {
    return {
      module: PluginServicesModule,
      global: true,
      providers: [
        UserRequests,
        {
          provide: Container,
          useFactory: (
            own: Pick<PluginServices, 'client' | 'servedKinds' | 'restMapper' | 'manifests'>,
            informers: Informers,
            authorizer: UnionAuthorizer,
            logger: Log,
            registry: LimitedRegistry,
            featureGates: FeatureGates,
            { shutdown: shutdownSignal }: Lifetime,
            egress?: EgressSelector,
          ) =>
            newServiceContainer({
              ...own,
              informers,
              authorizer,
              logger,
              featureGates,
              shutdownSignal,
              metrics: new RegistryMetrics(registry),
              clock,
              serviceResolver: routesToEndpoints ? new EndpointsResolver(informers, egress) : new ClusterIPResolver(informers, egress),
            }),
          inject: [
            OwnServices,
            Informers,
            UnionAuthorizer,
            Log,
            LimitedRegistry,
            FeatureGates,
            Lifetime,
            { token: EgressSelector, optional: true },
          ],
        },
        {
          provide: OwnServices,
          useFactory: newOwnServices,
          inject: [LoopbackClient, UserRequests, ApiServers, EndpointMapper, Scheme, LimitedRegistry, Log, Lifetime],
        },
        ...forPages.map((token) => ({
          provide: token,
          useFactory: (services: Container): unknown => services.get(token),
          inject: [Container],
        })),
      ],
      exports: [Container, UserRequests, ...forPages],
    };
  }
}

/** Services that are created only for plugins. */
const OwnServices = Symbol('OwnServices');

function newOwnServices(
  client: LoopbackClient,
  users: UserRequests,
  { chain }: ApiServers,
  restMapper: EndpointMapper,
  scheme: Scheme,
  registry: LimitedRegistry,
  logger: Log,
  { shutdown }: Lifetime,
): Pick<PluginServices, 'client' | 'servedKinds' | 'restMapper' | 'manifests'> {
  const metrics = new ManifestMetrics(registry, apiServerId(hostname()));
  return {
    client: client.withUsers(users.serve),
    servedKinds: new ChainKinds(chain),
    restMapper,
    manifests: new ManifestFolders({ codec: new ManifestCodec(scheme), metrics, logger, shutdown }),
  };
}
