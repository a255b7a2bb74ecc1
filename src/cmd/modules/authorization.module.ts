import { type DynamicModule, Module } from '@nestjs/common';
import { AuthorizationGuard } from '#apiserver/authorization/authorization.guard';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import { Informers } from '#apiserver/registry/informers';
import type { Dial, EgressSelector } from '#apiserver/network/egress-selector/egress-selector';
import type { FeatureGates } from '#apiserver/base/feature-gates';
import { JsonClient } from '#apiserver/network/webhook/json-client';
import { PrivilegedGroups } from '#plugins/authorization/privileged-groups';
import { AlwaysAllowPaths } from '#plugins/authorization/always-allow-paths';
import { ABAC } from '#plugins/authorization/abac';
import { WebhookAuthorizer } from '#plugins/authorization/webhook';
import { authorizers as builtIn } from '#cmd/builtin-plugins';
import type { AuthorizerConfig, WebhookConfig } from '#cmd/server-config';

/** Upstream: kubernetes/pkg/kubeapiserver/options/authorization.go (genericoptions.DefaultAuthWebhookRetryBackoff). */
const retryMs = 500;

/** Makes authorizers of their configuration; those that follow the server's own objects are made once and kept. */
export class AuthorizerFactory {
  readonly #builtIn = new Map<string, Authorizer>();

  /** Those of packages. */
  contributed: readonly Authorizer[] = [];

  constructor(
    private readonly informers: Informers,
    private readonly egress: EgressSelector | undefined,
    private readonly features: FeatureGates,
  ) {}

  /** In their order, behind system:masters and those of packages. */
  make(configs: readonly AuthorizerConfig[]): Authorizer[] {
    return [new PrivilegedGroups(), ...this.contributed, ...configs.map((config) => this.#make(config))];
  }

  #make(config: AuthorizerConfig): Authorizer {
    if (config.type === 'ABAC') return new ABAC(config.policies);
    if (config.type === 'AlwaysAllowPaths') return new AlwaysAllowPaths(config.paths);
    if (config.type === 'Webhook') return newWebhook(config.webhook, this.egress?.dial('controlplane'));
    let authorizer = this.#builtIn.get(config.type);
    if (!authorizer) {
      authorizer = new builtIn[config.type](this.informers, this.features);
      this.#builtIn.set(config.type, authorizer);
    }
    return authorizer;
  }
}

function newWebhook({ connection, timeoutMs, ...options }: WebhookConfig, dial: Dial | undefined): Authorizer {
  return new WebhookAuthorizer(new JsonClient(connection, { timeoutMs, retryMs, dial }), options);
}

/** The union of the authorizers that are on, and its guard. */
@Module({})
export class AuthorizationModule {
  static register(configs: readonly AuthorizerConfig[], egress: EgressSelector | undefined, features: FeatureGates): DynamicModule {
    return {
      module: AuthorizationModule,
      global: true,
      providers: [
        {
          provide: AuthorizerFactory,
          useFactory: (informers: Informers) => new AuthorizerFactory(informers, egress, features),
          inject: [Informers],
        },
        {
          provide: UnionAuthorizer,
          useFactory: (factory: AuthorizerFactory) => new UnionAuthorizer(factory.make(configs)),
          inject: [AuthorizerFactory],
        },
        AuthorizationGuard,
      ],
      exports: [UnionAuthorizer, AuthorizationGuard, AuthorizerFactory],
    };
  }
}
