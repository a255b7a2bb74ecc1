import { createHash } from 'node:crypto';
import type { TokenAuthenticator, UserInfo } from 'kubenest/sdk';
import { parseCsvLine } from './csv.ts';

/** Users by the SHA-256 of their token, so that lookups have no timing side channel. */
export type TokenTable = ReadonlyMap<string, UserInfo>;

/**
 * Parses a token file: lines `token,user,uid[,"group1,group2"]`; the uid may be empty. Throws an error with the number of an
 * invalid line. Upstream: apiserver/pkg/authentication/token/tokenfile/tokenfile.go.
 */
export function parseTokenFile(text: string): TokenTable {
  const users = new Map<string, UserInfo>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const fields = parseCsvLine(line);
    if (fields.length < 3)
      throw new Error(`token file: line ${index + 1}: expected at least token, user name and uid, got ${fields.length} columns`);
    const [token = '', name = '', uid = '', groups = ''] = fields;
    if (token === '') continue;
    const key = hashToken(token);
    users.set(key, { name, uid, groups: groups.split(',').filter(Boolean) });
  }
  return users;
}

/** Returns the key of a token in the table: SHA-256, base64. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}

/** `--token-auth-file`: authenticates by static tokens. */
export class TokenAuth implements TokenAuthenticator {
  readonly name = 'TokenAuth';
  /** Valid tokens seen so far. A Map uses hashes with a secret seed, so its lookups have no timing side channel. */
  readonly #shown = new Map<string, UserInfo>();

  constructor(readonly users: TokenTable) {}

  authenticateToken(token: string): UserInfo | undefined {
    const shown = this.#shown.get(token);
    if (shown) return shown;
    const user = this.users.get(hashToken(token));
    // Bounded by the number of lines in the file.
    if (user) this.#shown.set(token, user);
    return user;
  }
}
