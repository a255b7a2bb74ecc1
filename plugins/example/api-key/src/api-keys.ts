import { Buffer } from 'node:buffer';
import { createHash, timingSafeEqual } from 'node:crypto';
import { type Authenticator, AuthenticatorPlugin, Configuration, type Credentials, inject, type UserInfo } from 'kubenest/sdk';
import { IsArray, IsString, Matches, Type, ValidateNested } from 'kubenest/sdk/configuration';

export class ApiKeyUser {
  @IsString()
  name = '';
  @IsArray()
  @IsString({ each: true })
  groups: string[] = [];
  /** Hash of the key, which itself is not stored anywhere. */
  @Matches(/^[0-9a-f]{64}$/, { message: 'must be the SHA-256 of the key, in hexadecimal' })
  keySha256 = '';
}
export class ApiKeysConfiguration {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => ApiKeyUser)
  users: ApiKeyUser[] = [];
}

/** Authenticates clients by the header X-Api-Key. */
@AuthenticatorPlugin({ name: 'ApiKeys', configuration: ApiKeysConfiguration })
export class ApiKeys implements Authenticator {
  readonly name = 'ApiKeys';
  readonly credentialHeaders = ['x-api-key'];
  readonly #users: readonly { readonly hash: Buffer; readonly user: UserInfo }[];

  constructor(@inject(Configuration) { users }: ApiKeysConfiguration) {
    this.#users = users.map(({ name, groups, keySha256 }) => ({ hash: Buffer.from(keySha256, 'hex'), user: { name, groups } }));
  }

  authenticate({ headers }: Credentials): UserInfo | undefined {
    const key = headers['x-api-key'];
    if (typeof key !== 'string') return undefined;
    const hash = createHash('sha256').update(key).digest();
    const found = this.#users.find((known) => timingSafeEqual(known.hash, hash));
    if (!found) throw new Error('unknown API key');
    return found.user;
  }
}
