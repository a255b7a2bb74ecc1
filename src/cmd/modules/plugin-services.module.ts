import { type DynamicModule, Module } from '@nestjs/common';
import { Container } from 'inversify';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import { newServiceContainer, type PluginServices } from '#apiserver/plugins/plugin-services';
import { Informers } from '#apiserver/registry/informers';

/** The bridge from Nest to plugins: what they may ask for, in one container, made once at start. */
@Module({})
export class PluginServicesModule {
  /** `services`: those that no Nest module provides. */
  static register(services: Omit<PluginServices, 'informers' | 'authorizer'>): DynamicModule {
    return {
      module: PluginServicesModule,
      global: true,
      providers: [
        {
          provide: Container,
          useFactory: (informers: Informers, authorizer: UnionAuthorizer) => newServiceContainer({ ...services, informers, authorizer }),
          inject: [Informers, UnionAuthorizer],
        },
      ],
      exports: [Container],
    };
  }
}
