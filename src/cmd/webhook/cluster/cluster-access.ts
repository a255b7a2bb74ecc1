import { AuthenticationMetrics } from '#apiserver/authentication/authentication-metrics';
import { AuthenticationGuard } from '#apiserver/authentication/authentication.guard';
import { IdentityHeaders } from '#apiserver/authentication/identity-headers';
import { headless } from '#apiserver/authentication/strategy';
import { UnionAuthenticator } from '#apiserver/authentication/union';
import { AuthorizationGuard } from '#apiserver/authorization/authorization.guard';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import type { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { Anonymous } from '#plugins/authentication/anonymous';
import { BearerToken, UnknownToken } from '#plugins/authentication/bearer-token';
import { TokenCache } from '#plugins/authentication/token-cache';
import { WebhookTokenAuth } from '#plugins/authentication/webhook-token';
import { AlwaysAllowPaths } from '#plugins/authorization/always-allow-paths';
import { WebhookAuthorizer } from '#plugins/authorization/webhook';
import type { ClusterApi } from './cluster-api.ts';

/** Paths that need no permission: API servers call webhooks, and kubelets probes, without credentials that others could verify. */
const openPaths = ['/mutate', '/mutate/*', '/validate', '/validate/*', '/healthz', '/livez', '/readyz'];
/** Upstream: apiserver/pkg/server/options/{authentication,authorization}.go (cache TTLs of delegating servers). */
const cacheMs = 10_000;

/** Returns the authorizer of the cluster, which answers SubjectAccessReviews. */
export function clusterAuthorizer(api: ClusterApi): Authorizer {
  return new WebhookAuthorizer(api.at('/apis/authorization.k8s.io/v1/subjectaccessreviews'), {
    name: 'cluster',
    version: 'v1',
    authorizedTtlMs: cacheMs,
    unauthorizedTtlMs: cacheMs,
    failurePolicy: 'NoOpinion',
  });
}

/** Guards of a server that leaves authentication and authorization of its debugging paths to the cluster. */
export function clusterGuards(
  api: ClusterApi,
  authorizer: Authorizer,
  registry: LimitedRegistry,
): { readonly authentication: AuthenticationGuard; readonly authorization: AuthorizationGuard } {
  const reviews = new WebhookTokenAuth(api.at('/apis/authentication.k8s.io/v1/tokenreviews'), 'v1', []);
  const metrics = new AuthenticationMetrics(registry);
  const tokens = new BearerToken(new TokenCache(reviews, { successMs: cacheMs, failureMs: cacheMs, metrics }));
  const known = new UnionAuthenticator([headless(tokens), headless(new UnknownToken())]);
  return {
    authentication: new AuthenticationGuard(new UnionAuthenticator([known, headless(new Anonymous())], true), new IdentityHeaders()),
    authorization: new AuthorizationGuard(new UnionAuthorizer([new AlwaysAllowPaths(openPaths), authorizer])),
  };
}
