import { createHash } from 'node:crypto';
import type { TokenAuthenticator, UserInfo } from 'kubenest/sdk';
import { parseCsvLine } from './csv.ts';

/** Users by the SHA-256 of their token: looking a token up tells nothing of the others by the time that it takes. */
export type TokenTable = ReadonlyMap<string, UserInfo>;

/**
 * Static tokens of a file: lines `token,user,uid[,"group1,group2"]`, the uid may be empty. Throws with the number of a
 * wrong line. Upstream: apiserver/pkg/authentication/token/tokenfile/tokenfile.go.
 */
export function parseTokenFile(text: string): TokenTable {
  const users = new Map<string, UserInfo>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const fields = parseCsvLine(line);
    if (fields.length < 3)
      throw new Error(`token file: line ${index + 1} has ${fields.length} columns, but at least token, user name and uid are needed`);
    const [token = '', name = '', uid = '', groups = ''] = fields;
    if (token === '') continue;
    const key = hashToken(token);
    users.set(key, { name, uid, groups: groups.split(',').filter(Boolean) });
  }
  return users;
}

/** The form in which tokens are kept: SHA-256, base64. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}

/** Static tokens: `--token-auth-file`. */
export class TokenAuth implements TokenAuthenticator {
  readonly name = 'TokenAuth';
  /** Tokens that were shown and are right. A Map finds them by a hash with a secret seed: no time tells how much of a token is right. */
  readonly #shown = new Map<string, UserInfo>();

  constructor(readonly users: TokenTable) {}

  authenticateToken(token: string): UserInfo | undefined {
    const shown = this.#shown.get(token);
    if (shown) return shown;
    const user = this.users.get(hashToken(token));
    // No more of them than lines of the file.
    if (user) this.#shown.set(token, user);
    return user;
  }
}
