import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Container } from 'inversify';
import type { Authenticator } from '#apiserver/authentication/authenticator';
import { headless } from '#apiserver/authentication/strategy';
import { UnionAuthenticator } from '#apiserver/authentication/union';
import { guardAuthenticator } from '#apiserver/plugins/guard-access';
import { Contributions } from '#cmd/modules/contributions';
import { sourcesOf } from '#cmd/modules/sources';
import type { AuthenticationConfig } from '#cmd/server-config';
import { Anonymous } from '#plugins/authentication/anonymous';
import { UnknownToken } from '#plugins/authentication/bearer-token';
import type { AuthenticatorSource } from './authenticator-sources.ts';

/** Makes authenticators of their configuration: those of the sources in upstream's order, then those of packages, which are made once. */
@Injectable()
export class StrategyFactory {
  readonly #contributed: readonly Authenticator[];

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(Contributions) contributions: Contributions,
    @Inject(Container) services: Container,
  ) {
    this.#contributed = contributions.make('AuthenticatorPlugin', services, guardAuthenticator);
  }

  /**
   * The members of the outer union: all that know a user, and behind them the anonymous authenticator, so that wrong credentials are never
   * taken for none.
   */
  make(config: AuthenticationConfig): Authenticator[] {
    const sources = [...sourcesOf<AuthenticatorSource>(this.discovery, 'Authenticator').values()];
    const strategies = sources.flatMap((source) => source.strategies(config));
    const known = new UnionAuthenticator([...strategies.map(headless), ...this.#contributed, headless(new UnknownToken())]);
    const { anonymous, anonymousPaths } = config;
    return anonymous ? [known, headless(new Anonymous(anonymousPaths?.length ? new Set(anonymousPaths) : undefined))] : [known];
  }
}
