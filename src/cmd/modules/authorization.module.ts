import { type DynamicModule, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { Container } from 'inversify';
import { registerAuthorizationDecisions } from '#apiserver/authorization/authorization-metrics';
import { AuthorizationGuard } from '#apiserver/authorization/authorization.guard';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import { Informers } from '#apiserver/registry/informers';
import { guardAuthorizer } from '#apiserver/plugins/guard-access';
import { type Dial, EgressSelector } from '#apiserver/server/egress-selector/egress-selector';
import { FeatureGates } from '#apiserver/server/feature-gates';
import { LimitedRegistry } from '#apiserver/server/metrics/limited-registry';
import { JsonClient } from '#apiserver/webhook/json-client';
import { PrivilegedGroups } from '#plugins/authorization/privileged-groups';
import { AlwaysAllowPaths } from '#plugins/authorization/always-allow-paths';
import { ABAC } from '#plugins/authorization/abac';
import { WebhookAuthorizer } from '#plugins/authorization/webhook';
import { authorizers as builtIn } from '#cmd/builtin-plugins';
import type { AuthorizerConfig, ServerConfig, WebhookConfig } from '#cmd/server-config';
import { Contributions } from './contributions.ts';

/** Upstream: kubernetes/pkg/kubeapiserver/options/authorization.go (genericoptions.DefaultAuthWebhookRetryBackoff). */
const retryMs = 500;

/** The authorizers that the server starts with. */
const InitialAuthorizers = Symbol('InitialAuthorizers');

/** Makes authorizers of their configuration; those that follow the server's own objects are made once and kept. */
export class AuthorizerFactory {
  readonly #builtIn = new Map<string, Authorizer>();

  /** `contributed`: the authorizers of packages. */
  constructor(
    private readonly informers: Informers,
    private readonly features: FeatureGates,
    private readonly contributed: readonly Authorizer[],
    private readonly egress: EgressSelector | undefined,
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
        {
          provide: AuthorizerFactory,
          useFactory: (
            informers: Informers,
            features: FeatureGates,
            contributions: Contributions,
            services: Container,
            egress?: EgressSelector,
          ) => new AuthorizerFactory(informers, features, contributions.make('AuthorizerPlugin', services, guardAuthorizer), egress),
          inject: [Informers, FeatureGates, Contributions, Container, { token: EgressSelector, optional: true }],
        },
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
