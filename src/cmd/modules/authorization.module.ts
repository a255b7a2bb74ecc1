import { type DynamicModule, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { registerAuthorizationDecisions } from '#apiserver/authorization/authorization-metrics';
import { AuthorizationGuard } from '#apiserver/authorization/authorization.guard';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { AuthorizerFactory } from '#cmd/authorization/authorizer-factory';
import { authorizerSources } from '#cmd/authorization/authorizer-sources';
import type { AuthorizerConfig, ServerConfig } from '#cmd/server-config';

/** Injection token of the authorization configuration at startup. */
const InitialAuthorizers = Symbol('InitialAuthorizers');

/**
 * Union of the enabled authorizers, and its guard. The union is created before its members, because they may depend on it; it denies all
 * requests until the module is initialized. Global, because controllers of packages use the guard.
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
