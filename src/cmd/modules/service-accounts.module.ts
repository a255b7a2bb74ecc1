import { type DynamicModule, Module } from '@nestjs/common';
import { TokenIssuer } from '#apiserver/authentication/token-issuer';
import { JwtTokenIssuer } from '#kubernetes/serviceaccount/jwt-token-issuer';
import type { ServerConfig } from '#cmd/server-config';

/** Signer of service account tokens; none without a key. */
@Module({})
export class ServiceAccountsModule {
  /** Throws for an unusable key. */
  static register({ serviceAccounts: config }: Pick<ServerConfig, 'serviceAccounts'>): DynamicModule {
    const issuer = config && new JwtTokenIssuer(config);
    return {
      module: ServiceAccountsModule,
      ...(issuer && { providers: [{ provide: TokenIssuer, useValue: issuer }], exports: [TokenIssuer] }),
    };
  }
}
