import { type DynamicModule, Module } from '@nestjs/common';
import type { AuthenticationMetrics } from '#apiserver/authentication/authentication-metrics';
import { AuthenticationGuard } from '#apiserver/authentication/authentication.guard';
import { IdentityHeaders } from '#apiserver/authentication/identity-headers';
import { keyIdOf } from '#apiserver/authentication/public-keys';
import { type AuthenticationStrategy, headless } from '#apiserver/authentication/strategy';
import type { KubeObject } from '#apimachinery/meta/types';
import { UnionAuthenticator } from '#apiserver/authentication/union';
import type { Authenticator, TokenAuthenticator } from '#apiserver/authentication/authenticator';
import type { EgressSelector } from '#apiserver/network/egress-selector/egress-selector';
import { JsonClient } from '#apiserver/network/webhook/json-client';
import { Oidc } from '#plugins/authentication/oidc';
import { WebhookTokenAuth } from '#plugins/authentication/webhook-token';
import { Informers } from '#apiserver/registry/informers';
import type { AuthenticationConfig } from '#cmd/server-config';
import { Anonymous } from '#plugins/authentication/anonymous';
import { BasicAuth } from '#plugins/authentication/basic-auth';
import { BearerToken, UnknownToken } from '#plugins/authentication/bearer-token';
import { BootstrapToken } from '#plugins/authentication/bootstrap-token';
import { ClientCA } from '#plugins/authentication/client-ca';
import type { ClientAuthorities } from '#plugins/authentication/client-authorities';
import { RequestHeader } from '#plugins/authentication/request-header';
import { ServiceAccountTokens } from '#plugins/authentication/service-account';
import { TokenAuth } from '#plugins/authentication/token-auth';
import { TokenCache } from '#plugins/authentication/token-cache';

/** Upstream: kubernetes/pkg/kubeapiserver/options/authentication.go (TokenSuccessCacheTTL). */
const tokenCache = { successMs: 10_000, failureMs: 0 };
const webhookClient = { timeoutMs: 30_000, retryMs: 500 };

/** Authorities that may change while the server runs. */
export interface Authorities {
  /** Of client certificates. */
  readonly client: ClientAuthorities | undefined;
  /** Of front proxies. */
  readonly requestHeader: ClientAuthorities | undefined;
}

/** Makes the strategies of their configuration, in upstream's order. */
export class StrategyFactory {
  /** Those of packages. */
  contributed: readonly Authenticator[] = [];

  constructor(
    private readonly authorities: Authorities,
    private readonly informers: Informers,
    private readonly onLegacyTokenUse: ((secret: KubeObject) => void) | undefined,
    private readonly egress: EgressSelector | undefined,
    private readonly metrics: AuthenticationMetrics,
  ) {}

  /** What the outer union asks: all that know somebody, and behind them who takes in strangers, for whom wrong credentials are none of theirs. */
  make(config: AuthenticationConfig): Authenticator[] {
    const known = new UnionAuthenticator([...this.#strategies(config).map(headless), ...this.contributed, headless(new UnknownToken())]);
    const { anonymous, anonymousPaths } = config;
    return anonymous ? [known, headless(new Anonymous(anonymousPaths?.length ? new Set(anonymousPaths) : undefined))] : [known];
  }

  #strategies(config: AuthenticationConfig): AuthenticationStrategy[] {
    const { requestHeader, passwords } = config;
    const { authorities } = this;
    const strategies: AuthenticationStrategy[] = [];
    if (requestHeader && authorities.requestHeader)
      strategies.push(new RequestHeader(authorities.requestHeader, requestHeader.allowedNames, headerNames(config)));
    if (passwords) strategies.push(new BasicAuth(passwords));
    if (authorities.client) strategies.push(new ClientCA(authorities.client, (seconds) => this.metrics.certificateLasts(seconds)));
    return [...strategies, ...this.#tokens(config).map((tokens) => new BearerToken(tokens))];
  }

  #tokens({
    tokens,
    serviceAccounts,
    bootstrapTokens,
    oidc = [],
    webhook,
    delegated,
    apiAudiences = [],
  }: AuthenticationConfig): TokenAuthenticator[] {
    const all: TokenAuthenticator[] = [];
    const { metrics } = this;
    if (tokens) all.push(new TokenAuth(tokens));
    if (serviceAccounts) {
      const { signer } = serviceAccounts;
      const own = serviceAccounts.keys.map((key) => ({ id: keyIdOf(key), key }));

      all.push(
        new TokenCache(
          new ServiceAccountTokens(this.informers, {
            ...serviceAccounts,
            keySource: signer ?? { keys: own },
            onLegacyTokenUse: this.onLegacyTokenUse,
            onUse: metrics.tokenUsed,
          }),
          {
            ...tokenCache,
            metrics,
          },
        ),
      );
    }
    if (bootstrapTokens) all.push(new BootstrapToken(this.informers));
    for (const { egressSelectorType: egress, ...issuer } of oidc) {
      const dial = egress && this.egress?.dial(egress);
      all.push(new TokenCache(new Oidc({ ...issuer, apiAudiences, dial }), { ...tokenCache, metrics }));
    }
    for (const one of [webhook, delegated]) {
      if (!one) continue;
      const { connection, version, cacheTtlMs, audiences = apiAudiences } = one;
      const client = new JsonClient(connection, { ...webhookClient, dial: this.egress?.dial('controlplane') });
      const asked = new WebhookTokenAuth(client, version, audiences);
      all.push(new TokenCache(asked, { successMs: cacheTtlMs, failureMs: cacheTtlMs, metrics }));
    }
    return all;
  }
}

/** The union of the strategies that are on, and its guard. Upstream: kubernetes/pkg/kubeapiserver/authenticator/config.go. */
@Module({})
export class AuthenticationModule {
  /** `onLegacyTokenUse`: told of each secret whose token somebody has shown. */
  static register(
    config: AuthenticationConfig,
    authorities: Authorities,
    egress: EgressSelector | undefined,
    metrics: AuthenticationMetrics,
    onLegacyTokenUse?: (secret: KubeObject) => void,
  ): DynamicModule {
    const names = headerNames(config);
    return {
      module: AuthenticationModule,
      global: true,
      providers: [
        {
          provide: StrategyFactory,
          useFactory: (informers: Informers) => new StrategyFactory(authorities, informers, onLegacyTokenUse, egress, metrics),
          inject: [Informers],
        },
        {
          provide: UnionAuthenticator,
          useFactory: (factory: StrategyFactory) => new UnionAuthenticator(factory.make(config), true),
          inject: [StrategyFactory],
        },
        { provide: IdentityHeaders, useValue: new IdentityHeaders([...names.username, ...names.uid, ...names.group], names.extraPrefixes) },
        AuthenticationGuard,
      ],
      exports: [UnionAuthenticator, IdentityHeaders, AuthenticationGuard, StrategyFactory],
    };
  }
}

function headerNames({ requestHeader }: AuthenticationConfig): ConstructorParameters<typeof RequestHeader>[2] {
  const lower = (names: readonly string[] = []): string[] => names.map((name) => name.toLowerCase());
  return {
    username: lower(requestHeader?.usernameHeaders),
    uid: lower(requestHeader?.uidHeaders),
    group: lower(requestHeader?.groupHeaders),
    extraPrefixes: lower(requestHeader?.extraHeaderPrefixes),
  };
}
