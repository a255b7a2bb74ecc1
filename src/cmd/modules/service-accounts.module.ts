import { type DynamicModule, Module } from '@nestjs/common';
import { TokenIssuer } from '#apiserver/authentication/token-issuer';
import { JwtTokenIssuer } from '#kubernetes/serviceaccount/jwt-token-issuer';
import type { ServerConfig } from '#cmd/server-config';

/** What signs tokens of service accounts; nothing without a key. */
@Module({})
export class ServiceAccountsModule {
  /** Throws for a key that cannot be used. */
  static register({ serviceAccounts: config }: Pick<ServerConfig, 'serviceAccounts'>): DynamicModule {
    const issuer = config && new JwtTokenIssuer(config);
    return {
      module: ServiceAccountsModule,
      ...(issuer && { providers: [{ provide: TokenIssuer, useValue: issuer }], exports: [TokenIssuer] }),
    };
  }
}
