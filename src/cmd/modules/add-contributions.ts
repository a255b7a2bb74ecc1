import type { INestApplicationContext } from '@nestjs/common';
import { Container } from 'inversify';
import type { Authenticator } from '#apiserver/authentication/authenticator';
import { UnionAuthenticator } from '#apiserver/authentication/union';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import type { ContributionKind } from '#apiserver/plugins/contribution';
import { guardAuthenticator, guardAuthorizer } from '#apiserver/plugins/guard-access';
import { contributionsOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import type { GenericServer } from '#apiserver/server/generic-server';
import type { PostStartHook } from '#apiserver/server/lifecycle/hooks';
import { StrategyFactory } from './authentication.module.ts';
import { AuthorizerFactory } from './authorization.module.ts';
import type { ServerConfig } from '#cmd/server-config';

/** Makes what packages add besides admission plugins, and puts it in its place. Throws an error that names the plugin. */
export function addContributions(
  { nest, server, config }: { readonly nest: INestApplicationContext; readonly server: GenericServer; readonly config: ServerConfig },
  contributions: readonly LoadedContribution[],
): void {
  const services = nest.get(Container);
  const all = <T>(kind: ContributionKind, guard: (name: string, made: T, timeoutMs: number) => T): T[] =>
    contributionsOf(contributions, kind).map(({ described, guard: { timeoutMs }, make }) =>
      guard(described.options.name, make(services) as T, timeoutMs),
    );

  const authenticators = all<Authenticator>('AuthenticatorPlugin', guardAuthenticator);
  if (authenticators.length > 0) {
    const strategies = nest.get(StrategyFactory);
    strategies.contributed = authenticators;
    nest.get(UnionAuthenticator).replace(strategies.make(config.authentication));
  }
  const authorizers = all<Authorizer>('AuthorizerPlugin', guardAuthorizer);
  if (authorizers.length > 0) {
    const factory = nest.get(AuthorizerFactory);
    factory.contributed = authorizers;
    nest.get(UnionAuthorizer).replace(factory.make(config.authorization.authorizers));
  }
  for (const { described, make } of contributionsOf(contributions, 'PostStartHookPlugin')) {
    const hook = make(services) as Pick<PostStartHook, 'run'>;
    server.hooks.addPostStart({ name: described.options.name, run: (signal) => hook.run(signal) });
  }
}
