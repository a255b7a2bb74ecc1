import { createHash } from 'node:crypto';
import type { Authenticator, Credentials, UserInfo } from 'kubenest/sdk';

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

function parseCsvLine(line: string): string[] {
  const fields: string[] = [];
  let at = 0;
  while (at <= line.length) {
    if (line[at] === '"') {
      let value = '';
      for (at += 1; at < line.length; at += 1) {
        if (line[at] !== '"') value += line[at];
        else if (line[at + 1] === '"') {
          value += '"';
          at += 1;
        } else break;
      }
      fields.push(value);
      at = line.indexOf(',', at) < 0 ? line.length + 1 : line.indexOf(',', at) + 1;
    } else {
      const comma = line.indexOf(',', at);
      fields.push(line.slice(at, comma < 0 ? undefined : comma).trim());
      at = comma < 0 ? line.length + 1 : comma + 1;
    }
  }
  return fields;
}

/** The form in which tokens are kept: SHA-256, base64. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}

/** `Authorization: Bearer` with a token of the file. */
export class TokenAuth implements Authenticator {
  readonly name = 'TokenAuth';

  constructor(readonly users: TokenTable) {}

  authenticate({ headers }: Credentials): UserInfo | undefined {
    const token = bearerToken(headers.authorization);
    return token === undefined ? undefined : this.users.get(hashToken(token));
  }
}

/** The token of an Authorization header, undefined without one. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (!authorization || !/^bearer /i.test(authorization)) return undefined;
  const token = authorization.slice(7).trim();
  return token === '' ? undefined : token;
}

/** Last of the token authenticators: a token that nobody knew is wrong, not absent, so its owner is not taken for a stranger. */
export class UnknownToken implements Authenticator {
  readonly name = 'UnknownToken';

  authenticate({ headers }: Credentials): UserInfo | undefined {
    if (bearerToken(headers.authorization) !== undefined) throw new Error('invalid bearer token');
    return undefined;
  }
}
