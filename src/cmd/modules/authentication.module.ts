import { hostname } from 'node:os';
import { type DynamicModule, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AuthenticationMetrics } from '#apiserver/authentication/authentication-metrics';
import { IssuerMetrics } from '#apiserver/authentication/issuer-metrics';
import { apiServerId } from '#kubernetes/controlplane/identity-lease';
import { AuthenticationGuard } from '#apiserver/authentication/authentication.guard';
import { IdentityHeaders } from '#apiserver/authentication/identity-headers';
import { UnionAuthenticator } from '#apiserver/authentication/union';
import type { GenericServer } from '#apiserver/server/generic-server';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { authenticatorSources, headerNames } from '#cmd/authentication/authenticator-sources';
import { LegacyTokenUse } from '#cmd/authentication/legacy-token-use';
import { StrategyFactory } from '#cmd/authentication/strategy-factory';
import { Log } from '#cmd/logging/log';
import type { AuthenticationConfig, ServerConfig } from '#cmd/server-config';
import { ClientTrust } from '#cmd/serving/client-trust';
import type { AddressConfig } from '#cmd/serving/external-address';
import { installOpenIdRoutes } from '#cmd/serving/open-id-routes';
import { ServerPart } from './server-part.ts';

type AuthenticationModuleConfig = AddressConfig & Pick<ServerConfig, 'authentication'>;

/** Injection token of the authentication configuration at startup. */
const InitialAuthentication = Symbol('InitialAuthentication');

/** Publishes the keys of service account tokens, and logs when an external signer's keys cannot be read. */
@ServerPart()
class ServiceAccountKeys implements ServerPart {
  constructor(
    private readonly config: AuthenticationModuleConfig,
    private readonly log: Log,
  ) {}

  install(server: GenericServer): void {
    const { serviceAccounts } = this.config.authentication;
    if (!serviceAccounts) return;
    const { signer } = serviceAccounts;
    if (signer)
      signer.onError = (error) =>
        this.log.error({ reason: error.message }, 'cannot reload the service account keys; the previous ones remain in use');
    installOpenIdRoutes(server, serviceAccounts, this.log, this.config);
  }
}

/**
 * Union of the enabled authenticators, its guard, and the keys of service account tokens. Module initialization adds the members of the
 * union, including those of packages. Global, because controllers of packages use the guard.
 */
@Module({})
export class AuthenticationModule implements OnModuleInit {
  static register(config: AuthenticationModuleConfig): DynamicModule {
    const { authentication } = config;
    const names = headerNames(authentication);
    return {
      module: AuthenticationModule,
      global: true,
      imports: [DiscoveryModule],
      providers: [
        { provide: InitialAuthentication, useValue: authentication },
        { provide: ClientTrust, useValue: new ClientTrust(config) },
        {
          provide: AuthenticationMetrics,
          useFactory: (registry: LimitedRegistry) => new AuthenticationMetrics(registry),
          inject: [LimitedRegistry],
        },
        {
          provide: IssuerMetrics,
          useFactory: (registry: LimitedRegistry) => new IssuerMetrics(registry, apiServerId(hostname())),
          inject: [LimitedRegistry],
        },
        LegacyTokenUse,
        ...authenticatorSources,
        StrategyFactory,
        { provide: UnionAuthenticator, useValue: new UnionAuthenticator([], true) },
        { provide: IdentityHeaders, useValue: new IdentityHeaders([...names.username, ...names.uid, ...names.group], names.extraPrefixes) },
        AuthenticationGuard,
        { provide: ServiceAccountKeys, useFactory: (log: Log) => new ServiceAccountKeys(config, log), inject: [Log] },
      ],
      exports: [UnionAuthenticator, IdentityHeaders, AuthenticationGuard, StrategyFactory, ClientTrust],
    };
  }

  constructor(
    @Inject(UnionAuthenticator) private readonly union: UnionAuthenticator,
    @Inject(StrategyFactory) private readonly factory: StrategyFactory,
    @Inject(InitialAuthentication) private readonly config: AuthenticationConfig,
  ) {}

  onModuleInit(): void {
    this.union.replace(this.factory.make(this.config));
  }
}
