import { type DynamicModule, Module } from '@nestjs/common';
import { Container } from 'inversify';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import { newServiceContainer, type PluginServices, serviceTokens } from '#apiserver/plugins/plugin-services';
import { Informers } from '#apiserver/registry/informers';
import type { EgressSelector } from '#apiserver/network/egress-selector/egress-selector';
import { ClusterIPResolver, EndpointsResolver } from '#kubernetes/controlplane/services/service-resolvers';

/** What controllers of packages may inject by the same tokens as plugins; informers are Nest's own already. */
const forPages = Object.values(serviceTokens).filter((token) => token !== Informers);

/** The bridge from Nest to plugins: what they may ask for, in one container, made once at start. */
@Module({})
export class PluginServicesModule {
  /** `services`: those that no Nest module provides. `routesToEndpoints`: services are reached at their pods, not by the cluster's addresses. */
  static register(
    services: Omit<PluginServices, 'informers' | 'authorizer' | 'serviceResolver'>,
    routesToEndpoints: boolean,
    egress: EgressSelector | undefined,
  ): DynamicModule {
    return {
      module: PluginServicesModule,
      global: true,
      providers: [
        {
          provide: Container,
          useFactory: (informers: Informers, authorizer: UnionAuthorizer) =>
            newServiceContainer({
              ...services,
              informers,
              authorizer,
              serviceResolver: routesToEndpoints ? new EndpointsResolver(informers, egress) : new ClusterIPResolver(informers, egress),
            }),
          inject: [Informers, UnionAuthorizer],
        },
        ...forPages.map((token) => ({
          provide: token,
          useFactory: (services: Container): unknown => services.get(token),
          inject: [Container],
        })),
      ],
      exports: [Container, ...forPages],
    };
  }
}
