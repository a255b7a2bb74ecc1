import { type DynamicModule, Module } from '@nestjs/common';
import { AuthenticationGuard } from '#apiserver/authentication/authentication.guard';
import type { Authenticator } from '#apiserver/authentication/authenticator';
import { UnionAuthenticator } from '#apiserver/authentication/union';
import { Anonymous } from '#plugins/authentication/anonymous';
import type { ClientCA } from '#plugins/authentication/client-ca';
import { TokenAuth, UnknownToken } from '#plugins/authentication/token-auth';
import type { ServerConfig } from '#cmd/server-config';

/** The union of the authenticators that are on, in upstream's order, and its guard. Upstream: kubernetes/pkg/kubeapiserver/authenticator/config.go. */
@Module({})
export class AuthenticationModule {
  /** `clientCa`: the authenticator of client certificates, if there is one. */
  static register(config: ServerConfig['authentication'], clientCa: ClientCA | undefined): DynamicModule {
    return {
      module: AuthenticationModule,
      global: true,
      providers: [{ provide: UnionAuthenticator, useFactory: () => authenticatorOf(config, clientCa) }, AuthenticationGuard],
      exports: [UnionAuthenticator, AuthenticationGuard],
    };
  }
}

function authenticatorOf({ tokens, anonymous }: ServerConfig['authentication'], clientCa: ClientCA | undefined): UnionAuthenticator {
  const authenticators: Authenticator[] = [];
  if (clientCa) authenticators.push(clientCa);
  if (tokens) authenticators.push(new TokenAuth(tokens));
  authenticators.push(new UnknownToken());
  const known = new UnionAuthenticator(authenticators);
  return new UnionAuthenticator(anonymous ? [known, new Anonymous()] : [known], true);
}
