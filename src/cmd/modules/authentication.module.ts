import { type DynamicModule, Module } from '@nestjs/common';
import { Container } from 'inversify';
import { AuthenticationMetrics } from '#apiserver/authentication/authentication-metrics';
import { AuthenticationGuard } from '#apiserver/authentication/authentication.guard';
import { IdentityHeaders } from '#apiserver/authentication/identity-headers';
import { keyIdOf } from '#apiserver/authentication/public-keys';
import { type AuthenticationStrategy, headless } from '#apiserver/authentication/strategy';
import type { KubeObject } from '#apimachinery/meta/types';
import { UnionAuthenticator } from '#apiserver/authentication/union';
import type { Authenticator, TokenAuthenticator } from '#apiserver/authentication/authenticator';
import { guardAuthenticator } from '#apiserver/plugins/guard-access';
import { LoopbackClient } from '#apiserver/registry/loopback-client';
import { EgressSelector } from '#apiserver/server/egress-selector/egress-selector';
import type { GenericServer } from '#apiserver/server/generic-server';
import { LimitedRegistry } from '#apiserver/server/metrics/limited-registry';
import { JsonClient } from '#apiserver/webhook/json-client';
import { Oidc } from '#plugins/authentication/oidc';
import { WebhookTokenAuth } from '#plugins/authentication/webhook-token';
import { Informers } from '#apiserver/registry/informers';
import { Log } from '#cmd/logging/log';
import type { AuthenticationConfig, ServerConfig } from '#cmd/server-config';
import { type Authorities, ClientTrust } from '#cmd/serving/client-trust';
import { installOpenIdRoutes } from '#cmd/serving/open-id-routes';
import { noteLegacyTokenUse } from '#kubernetes/controlplane/legacy-token-tracking';
import { Contributions } from './contributions.ts';
import { ServerPart } from './server-part.ts';
import { Anonymous } from '#plugins/authentication/anonymous';
import { BasicAuth } from '#plugins/authentication/basic-auth';
import { BearerToken, UnknownToken } from '#plugins/authentication/bearer-token';
import { BootstrapToken } from '#plugins/authentication/bootstrap-token';
import { ClientCA } from '#plugins/authentication/client-ca';
import { RequestHeader } from '#plugins/authentication/request-header';
import { ServiceAccountTokens } from '#plugins/authentication/service-account';
import { TokenAuth } from '#plugins/authentication/token-auth';
import { TokenCache } from '#plugins/authentication/token-cache';

/** Upstream: kubernetes/pkg/kubeapiserver/options/authentication.go (TokenSuccessCacheTTL). */
const tokenCache = { successMs: 10_000, failureMs: 0 };
const webhookClient = { timeoutMs: 30_000, retryMs: 500 };

interface StrategyParts {
  readonly authorities: Authorities;
  readonly informers: Informers;
  readonly egress: EgressSelector | undefined;
  readonly metrics: AuthenticationMetrics;
  /** Called with each secret whose token a client has shown. */
  readonly onLegacyTokenUse: (secret: KubeObject) => void;
  /** The authenticators of packages. */
  readonly contributed: readonly Authenticator[];
}

/** Makes the strategies of their configuration, in upstream's order. */
export class StrategyFactory {
  constructor(private readonly parts: StrategyParts) {}

  /** What the outer union asks: all that know somebody, and behind them who takes in strangers, for whom wrong credentials are none of theirs. */
  make(config: AuthenticationConfig): Authenticator[] {
    const known = new UnionAuthenticator([
      ...this.#strategies(config).map(headless),
      ...this.parts.contributed,
      headless(new UnknownToken()),
    ]);
    const { anonymous, anonymousPaths } = config;
    return anonymous ? [known, headless(new Anonymous(anonymousPaths?.length ? new Set(anonymousPaths) : undefined))] : [known];
  }

  #strategies(config: AuthenticationConfig): AuthenticationStrategy[] {
    const { requestHeader, passwords } = config;
    const { authorities } = this.parts;
    const strategies: AuthenticationStrategy[] = [];
    if (requestHeader && authorities.requestHeader)
      strategies.push(new RequestHeader(authorities.requestHeader, requestHeader.allowedNames, headerNames(config)));
    if (passwords) strategies.push(new BasicAuth(passwords));
    if (authorities.client) strategies.push(new ClientCA(authorities.client, (seconds) => this.parts.metrics.certificateLasts(seconds)));
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
    const { metrics } = this.parts;
    if (tokens) all.push(new TokenAuth(tokens));
    if (serviceAccounts) {
      const { signer } = serviceAccounts;
      const own = serviceAccounts.keys.map((key) => ({ id: keyIdOf(key), key }));

      all.push(
        new TokenCache(
          new ServiceAccountTokens(this.parts.informers, {
            ...serviceAccounts,
            keySource: signer ?? { keys: own },
            onLegacyTokenUse: this.parts.onLegacyTokenUse,
            onUse: metrics.tokenUsed,
          }),
          {
            ...tokenCache,
            metrics,
          },
        ),
      );
    }
    if (bootstrapTokens) all.push(new BootstrapToken(this.parts.informers));
    for (const { egressSelectorType: egress, ...issuer } of oidc) {
      const dial = egress && this.parts.egress?.dial(egress);
      all.push(new TokenCache(new Oidc({ ...issuer, apiAudiences, dial }), { ...tokenCache, metrics }));
    }
    for (const one of [webhook, delegated]) {
      if (!one) continue;
      const { connection, version, cacheTtlMs, audiences = apiAudiences } = one;
      const client = new JsonClient(connection, { ...webhookClient, dial: this.parts.egress?.dial('controlplane') });
      const asked = new WebhookTokenAuth(client, version, audiences);
      all.push(new TokenCache(asked, { successMs: cacheTtlMs, failureMs: cacheTtlMs, metrics }));
    }
    return all;
  }
}

type AuthenticationModuleConfig = Pick<ServerConfig, 'authentication' | 'externalHostname'>;

/**
 * The union of the strategies that are on, its guard, and the keys of service account tokens. Global: controllers of packages use the guard.
 * Upstream: kubernetes/pkg/kubeapiserver/authenticator/config.go.
 */
@Module({})
export class AuthenticationModule {
  static register(config: AuthenticationModuleConfig): DynamicModule {
    const { authentication } = config;
    const names = headerNames(authentication);
    return {
      module: AuthenticationModule,
      global: true,
      providers: [
        { provide: ClientTrust, useValue: new ClientTrust(config) },
        {
          provide: AuthenticationMetrics,
          useFactory: (registry: LimitedRegistry) => new AuthenticationMetrics(registry),
          inject: [LimitedRegistry],
        },
        {
          provide: StrategyFactory,
          useFactory: newStrategyFactory,
          inject: [
            ClientTrust,
            Informers,
            AuthenticationMetrics,
            LoopbackClient,
            Log,
            Contributions,
            Container,
            { token: EgressSelector, optional: true },
          ],
        },
        {
          provide: UnionAuthenticator,
          useFactory: (factory: StrategyFactory) => new UnionAuthenticator(factory.make(authentication), true),
          inject: [StrategyFactory],
        },
        { provide: IdentityHeaders, useValue: new IdentityHeaders([...names.username, ...names.uid, ...names.group], names.extraPrefixes) },
        AuthenticationGuard,
        { provide: ServiceAccountKeys, useFactory: (log: Log) => new ServiceAccountKeys(config, log), inject: [Log] },
      ],
      exports: [UnionAuthenticator, IdentityHeaders, AuthenticationGuard, StrategyFactory, ClientTrust],
    };
  }
}

function newStrategyFactory(
  { authorities }: ClientTrust,
  informers: Informers,
  metrics: AuthenticationMetrics,
  client: LoopbackClient,
  log: Log,
  contributions: Contributions,
  services: Container,
  egress?: EgressSelector,
): StrategyFactory {
  const onLegacyTokenUse = (secret: KubeObject): void => {
    noteLegacyTokenUse(client, secret, new Date()).catch((error: unknown) =>
      log.error({ reason: error instanceof Error ? error.message : String(error) }, 'a service account token secret could not be labelled'),
    );
  };
  const contributed = contributions.make('AuthenticatorPlugin', services, guardAuthenticator);
  return new StrategyFactory({ authorities, informers, metrics, egress, onLegacyTokenUse, contributed });
}

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
        this.log.error({ reason: error.message }, 'the keys of service accounts cannot be read again; the known ones stay');
    installOpenIdRoutes(server, serviceAccounts, this.log, this.config.externalHostname);
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
