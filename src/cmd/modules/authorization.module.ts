import { type DynamicModule, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { registerAuthorizationDecisions } from '#apiserver/authorization/authorization-metrics';
import { AuthorizationGuard } from '#apiserver/authorization/authorization.guard';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { AuthorizerFactory } from '#cmd/authorization/authorizer-factory';
import { authorizerSources } from '#cmd/authorization/authorizer-sources';
import type { AuthorizerConfig, ServerConfig } from '#cmd/server-config';

/** The authorizers that the server starts with. */
const InitialAuthorizers = Symbol('InitialAuthorizers');

/**
 * The union of the authorizers that are on, and its guard. The union exists before its members, which may ask it: it denies everything until
 * the module is initialized. Global: controllers of packages use the guard.
 */
@Module({})
export class AuthorizationModule implements OnModuleInit {
  static register({ authorization }: Pick<ServerConfig, 'authorization'>): DynamicModule {
    return {
      module: AuthorizationModule,
      global: true,
      imports: [DiscoveryModule],
      providers: [
        { provide: InitialAuthorizers, useValue: authorization.authorizers },
        {
          provide: UnionAuthorizer,
          useFactory: (registry: LimitedRegistry) => {
            const union = new UnionAuthorizer([]);
            registerAuthorizationDecisions(registry, union);
            return union;
          },
          inject: [LimitedRegistry],
        },
        ...authorizerSources,
        AuthorizerFactory,
        AuthorizationGuard,
      ],
      exports: [UnionAuthorizer, AuthorizationGuard, AuthorizerFactory],
    };
  }

  constructor(
    @Inject(UnionAuthorizer) private readonly union: UnionAuthorizer,
    @Inject(AuthorizerFactory) private readonly factory: AuthorizerFactory,
    @Inject(InitialAuthorizers) private readonly authorizers: readonly AuthorizerConfig[],
  ) {}

  onModuleInit(): void {
    this.union.replace(this.factory.make(this.authorizers));
  }
}
