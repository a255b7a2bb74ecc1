import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Container } from 'inversify';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import { guardAuthorizer } from '#apiserver/plugins/guard-access';
import { Contributions } from '#cmd/modules/contributions';
import { sourcesOf } from '#cmd/modules/sources';
import type { AuthorizerConfig } from '#cmd/server-config';
import { PrivilegedGroups } from '#plugins/authorization/privileged-groups';
import type { AuthorizerSource } from './authorizer-sources.ts';

/** Creates authorizers from their configuration; those of packages are created only once. */
@Injectable()
export class AuthorizerFactory {
  readonly #contributed: readonly Authorizer[];

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(Contributions) contributions: Contributions,
    @Inject(Container) services: Container,
  ) {
    this.#contributed = contributions.make('AuthorizerPlugin', services, guardAuthorizer);
  }

  /** Returns the authorizers in their order, after system:masters and those of packages. Throws for a type without a source. */
  make(configs: readonly AuthorizerConfig[]): Authorizer[] {
    const sources = sourcesOf<AuthorizerSource>(this.discovery, 'Authorizer');
    const configured = configs.map((config) => {
      const source = sources.get(config.type);
      if (!source) throw new Error(`unknown authorizer type ${JSON.stringify(config.type)}`);
      return source.authorizer(config);
    });
    return [new PrivilegedGroups(), ...this.#contributed, ...configured];
  }
}
