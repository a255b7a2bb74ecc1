import { Inject, Injectable, Optional, type Type } from '@nestjs/common';
import { IssuerMetrics } from '#apiserver/authentication/issuer-metrics';
import { AuthenticationMetrics } from '#apiserver/authentication/authentication-metrics';
import type { TokenAuthenticator } from '#apiserver/authentication/authenticator';
import { keyIdOf } from '#apiserver/authentication/public-keys';
import type { AuthenticationStrategy } from '#apiserver/authentication/strategy';
import { FeatureGates } from '#apiserver/base/feature-gates';
import { Informers } from '#apiserver/registry/informers';
import { EgressSelector } from '#apiserver/network/egress-selector/egress-selector';
import { JsonClient } from '#apiserver/network/webhook/json-client';
import { Source } from '#cmd/modules/sources';
import type { AuthenticationConfig, TokenWebhookConfig } from '#cmd/server-config';
import { ClientTrust } from '#cmd/serving/client-trust';
import { BasicAuth } from '#plugins/authentication/basic-auth';
import { BearerToken } from '#plugins/authentication/bearer-token';
import { BootstrapToken } from '#plugins/authentication/bootstrap-token';
import { ClientCA } from '#plugins/authentication/client-ca';
import { Oidc } from '#plugins/authentication/oidc';
import { RequestHeader } from '#plugins/authentication/request-header';
import { ServiceAccountTokens } from '#plugins/authentication/service-account';
import { TokenAuth } from '#plugins/authentication/token-auth';
import { TokenCache } from '#plugins/authentication/token-cache';
import { WebhookTokenAuth } from '#plugins/authentication/webhook-token';
import { LegacyTokenUse } from './legacy-token-use.ts';

/** Upstream: kubernetes/pkg/kubeapiserver/options/authentication.go (TokenSuccessCacheTTL). */
const tokenCache = { successMs: 10_000, failureMs: 0 };
const webhookClient = { timeoutMs: 30_000, retryMs: 500 };

/** Creates the authenticators of one method if the configuration enables it. */
export interface AuthenticatorSource {
  strategies(config: AuthenticationConfig): AuthenticationStrategy[];
}

/** Returns the header names of front proxies, by the user attribute that they contain. */
export function headerNames({ requestHeader }: AuthenticationConfig): ConstructorParameters<typeof RequestHeader>[2] {
  const lower = (names: readonly string[] = []): string[] => names.map((name) => name.toLowerCase());
  return {
    username: lower(requestHeader?.usernameHeaders),
    uid: lower(requestHeader?.uidHeaders),
    group: lower(requestHeader?.groupHeaders),
    extraPrefixes: lower(requestHeader?.extraHeaderPrefixes),
  };
}

@Injectable()
@Source({ kind: 'Authenticator', name: 'RequestHeader' })
class FrontProxies implements AuthenticatorSource {
  constructor(@Inject(ClientTrust) private readonly trust: ClientTrust) {}

  strategies(config: AuthenticationConfig): AuthenticationStrategy[] {
    const authorities = this.trust.authorities.requestHeader;
    if (!config.requestHeader || !authorities) return [];
    return [new RequestHeader(authorities, config.requestHeader.allowedNames, headerNames(config))];
  }
}

@Injectable()
@Source({ kind: 'Authenticator', name: 'BasicAuth' })
class Passwords implements AuthenticatorSource {
  strategies({ passwords }: AuthenticationConfig): AuthenticationStrategy[] {
    return passwords ? [new BasicAuth(passwords)] : [];
  }
}

@Injectable()
@Source({ kind: 'Authenticator', name: 'ClientCA' })
class ClientCertificates implements AuthenticatorSource {
  constructor(
    @Inject(ClientTrust) private readonly trust: ClientTrust,
    @Inject(AuthenticationMetrics) private readonly metrics: AuthenticationMetrics,
    @Inject(FeatureGates) private readonly features: FeatureGates,
  ) {}

  strategies(): AuthenticationStrategy[] {
    const { client } = this.trust.authorities;
    const readsUid = this.features.enabled('AllowParsingUserUIDFromCertAuth');
    return client ? [new ClientCA(client, { readsUid, onCertificate: (seconds) => this.metrics.certificateLasts(seconds) })] : [];
  }
}

@Injectable()
@Source({ kind: 'Authenticator', name: 'TokenAuth' })
class StaticTokens implements AuthenticatorSource {
  strategies({ tokens }: AuthenticationConfig): AuthenticationStrategy[] {
    return tokens ? [new BearerToken(new TokenAuth(tokens))] : [];
  }
}

@Injectable()
@Source({ kind: 'Authenticator', name: 'ServiceAccount' })
class ServiceAccounts implements AuthenticatorSource {
  constructor(
    @Inject(Informers) private readonly informers: Informers,
    @Inject(AuthenticationMetrics) private readonly metrics: AuthenticationMetrics,
    @Inject(LegacyTokenUse) private readonly legacyTokens: LegacyTokenUse,
  ) {}

  strategies({ serviceAccounts }: AuthenticationConfig): AuthenticationStrategy[] {
    if (!serviceAccounts) return [];
    const { metrics } = this;
    const keySource = serviceAccounts.signer ?? { keys: serviceAccounts.keys.map((key) => ({ id: keyIdOf(key), key })) };
    const tokens = new ServiceAccountTokens(this.informers, {
      ...serviceAccounts,
      keySource,
      onLegacyTokenUse: this.legacyTokens.note,
      onUse: metrics.tokenUsed,
    });
    return [new BearerToken(new TokenCache(tokens, { ...tokenCache, metrics }))];
  }
}

@Injectable()
@Source({ kind: 'Authenticator', name: 'BootstrapToken' })
class BootstrapTokens implements AuthenticatorSource {
  constructor(@Inject(Informers) private readonly informers: Informers) {}

  strategies({ bootstrapTokens }: AuthenticationConfig): AuthenticationStrategy[] {
    return bootstrapTokens ? [new BearerToken(new BootstrapToken(this.informers))] : [];
  }
}

@Injectable()
@Source({ kind: 'Authenticator', name: 'OIDC' })
class Issuers implements AuthenticatorSource {
  constructor(
    @Inject(AuthenticationMetrics) private readonly metrics: AuthenticationMetrics,
    @Inject(IssuerMetrics) private readonly issuers: IssuerMetrics,
    @Inject(FeatureGates) private readonly features: FeatureGates,
    @Optional() @Inject(EgressSelector) private readonly egress?: EgressSelector,
  ) {}

  strategies({ oidc = [], apiAudiences = [] }: AuthenticationConfig): AuthenticationStrategy[] {
    const { metrics, issuers } = this;
    const hasKeySets = this.features.enabled('StructuredAuthenticationConfigurationJWKSMetrics');
    issuers.keepOnly(oidc.map(({ issuer }) => issuer));
    return oidc.map(({ egressSelectorType, ...issuer }) => {
      const dial = egressSelectorType && this.egress?.dial(egressSelectorType);
      const events = issuers.of(issuer.issuer, hasKeySets);
      return new BearerToken(new TokenCache(new Oidc({ ...issuer, ...events, apiAudiences, dial }), { ...tokenCache, metrics }));
    });
  }
}

@Injectable()
@Source({ kind: 'Authenticator', name: 'Webhook' })
class TokenReviews implements AuthenticatorSource {
  constructor(
    @Inject(AuthenticationMetrics) private readonly metrics: AuthenticationMetrics,
    @Optional() @Inject(EgressSelector) private readonly egress?: EgressSelector,
  ) {}

  /** Returns the webhook, followed by the server that this one delegates to. */
  strategies({ webhook, delegated, apiAudiences = [] }: AuthenticationConfig): AuthenticationStrategy[] {
    return [webhook, delegated]
      .filter((one) => one !== undefined)
      .map((one) => new BearerToken(this.#authenticator(one, one.audiences ?? apiAudiences)));
  }

  #authenticator({ connection, version, cacheTtlMs }: TokenWebhookConfig, audiences: readonly string[]): TokenAuthenticator {
    const client = new JsonClient(connection, { ...webhookClient, dial: this.egress?.dial('controlplane') });
    const asked = new WebhookTokenAuth(client, version, audiences);
    return new TokenCache(asked, { successMs: cacheTtlMs, failureMs: cacheTtlMs, metrics: this.metrics });
  }
}

/** Sources of authenticators in upstream's order. Upstream: kubernetes/pkg/kubeapiserver/authenticator/config.go. */
export const authenticatorSources: readonly Type<AuthenticatorSource>[] = [
  FrontProxies,
  Passwords,
  ClientCertificates,
  StaticTokens,
  ServiceAccounts,
  BootstrapTokens,
  Issuers,
  TokenReviews,
];
