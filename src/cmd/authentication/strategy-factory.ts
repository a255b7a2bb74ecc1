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

/**
 * Creates authenticators from their configuration: those of the sources in upstream's order, then those of packages, which are created only
 * once.
 */
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
   * Returns the members of the outer union: all that authenticate users, followed by the anonymous authenticator, so that a request with
   * invalid credentials is never treated as anonymous.
   */
  make(config: AuthenticationConfig): Authenticator[] {
    const sources = [...sourcesOf<AuthenticatorSource>(this.discovery, 'Authenticator').values()];
    const strategies = sources.flatMap((source) => source.strategies(config));
    const known = new UnionAuthenticator([...strategies.map(headless), ...this.#contributed, headless(new UnknownToken())]);
    const { anonymous, anonymousPaths } = config;
    return anonymous ? [known, headless(new Anonymous(anonymousPaths?.length ? new Set(anonymousPaths) : undefined))] : [known];
  }
}
