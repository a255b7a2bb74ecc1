import { Inject, Injectable, Optional, type Type } from '@nestjs/common';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import { Informers } from '#apiserver/registry/informers';
import { EgressSelector } from '#apiserver/network/egress-selector/egress-selector';
import { FeatureGates } from '#apiserver/base/feature-gates';
import { JsonClient } from '#apiserver/network/webhook/json-client';
import { Source } from '#cmd/modules/sources';
import type { AuthorizerConfig } from '#cmd/server-config';
import { ABAC } from '#plugins/authorization/abac';
import { AlwaysAllow, AlwaysDeny } from '#plugins/authorization/always';
import { AlwaysAllowPaths } from '#plugins/authorization/always-allow-paths';
import { Node } from '#plugins/authorization/node/node';
import { RBAC } from '#plugins/authorization/rbac/rbac';
import { WebhookAuthorizer } from '#plugins/authorization/webhook';

/** Upstream: kubernetes/pkg/kubeapiserver/options/authorization.go (genericoptions.DefaultAuthWebhookRetryBackoff). */
const retryMs = 500;

/** Configuration of an authorizer of a type. */
type ConfigOf<T extends AuthorizerConfig['type']> = Extract<AuthorizerConfig, { type: T }>;

/** Creates authorizers of one type. */
export interface AuthorizerSource<C = AuthorizerConfig> {
  authorizer(config: C): Authorizer;
}

@Injectable()
@Source({ kind: 'Authorizer', name: 'AlwaysAllow' })
class AllowEverything implements AuthorizerSource {
  authorizer(): Authorizer {
    return new AlwaysAllow();
  }
}

@Injectable()
@Source({ kind: 'Authorizer', name: 'AlwaysDeny' })
class DenyEverything implements AuthorizerSource {
  authorizer(): Authorizer {
    return new AlwaysDeny();
  }
}

@Injectable()
@Source({ kind: 'Authorizer', name: 'AlwaysAllowPaths' })
class AllowedPaths implements AuthorizerSource<ConfigOf<'AlwaysAllowPaths'>> {
  authorizer({ paths }: ConfigOf<'AlwaysAllowPaths'>): Authorizer {
    return new AlwaysAllowPaths(paths);
  }
}

@Injectable()
@Source({ kind: 'Authorizer', name: 'ABAC' })
class Policies implements AuthorizerSource<ConfigOf<'ABAC'>> {
  authorizer({ policies }: ConfigOf<'ABAC'>): Authorizer {
    return new ABAC(policies);
  }
}

/** Creates one authorizer for all configurations, because it follows the server's own objects. */
@Injectable()
@Source({ kind: 'Authorizer', name: 'Node' })
class Nodes implements AuthorizerSource {
  #node: Node | undefined;

  constructor(
    @Inject(Informers) private readonly informers: Informers,
    @Inject(FeatureGates) private readonly features: FeatureGates,
  ) {}

  authorizer(): Authorizer {
    return (this.#node ??= new Node(this.informers, this.features));
  }
}

/** Creates one authorizer for all configurations, because it follows the server's own objects. */
@Injectable()
@Source({ kind: 'Authorizer', name: 'RBAC' })
class Roles implements AuthorizerSource {
  #rbac: RBAC | undefined;

  constructor(@Inject(Informers) private readonly informers: Informers) {}

  authorizer(): Authorizer {
    return (this.#rbac ??= new RBAC(this.informers));
  }
}

@Injectable()
@Source({ kind: 'Authorizer', name: 'Webhook' })
class AccessReviews implements AuthorizerSource<ConfigOf<'Webhook'>> {
  constructor(@Optional() @Inject(EgressSelector) private readonly egress?: EgressSelector) {}

  authorizer({ webhook: { connection, timeoutMs, ...options } }: ConfigOf<'Webhook'>): Authorizer {
    const dial = this.egress?.dial('controlplane');
    return new WebhookAuthorizer(new JsonClient(connection, { timeoutMs, retryMs, dial }), options);
  }
}

export const authorizerSources: readonly Type<AuthorizerSource<never>>[] = [
  AllowEverything,
  DenyEverything,
  AllowedPaths,
  Policies,
  Nodes,
  Roles,
  AccessReviews,
];
