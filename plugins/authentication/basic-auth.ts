import { Buffer } from 'node:buffer';
import { AuthenticationStrategy, type Credentials } from 'kubenest/sdk';
import { parseCsvLine } from './csv.ts';
import { hashToken, type TokenTable } from './token-auth.ts';

/**
 * Parses a password file: lines `password,user,uid[,"group1,group2"]`, as supported by kube-apiserver up to 1.18. The result
 * is keyed by a hash of name and password, so that lookups have no timing side channel. Throws an error with the number of
 * an invalid line.
 */
export function parsePasswordFile(text: string): TokenTable {
  const users = new Map<string, { name: string; uid: string; groups: string[] }>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const fields = parseCsvLine(line);
    const [password = '', name = '', uid = '', groups = ''] = fields;
    if (fields.length < 3)
      throw new Error(`password file: line ${index + 1}: expected at least password, user name and uid, got ${fields.length} columns`);
    users.set(keyOf(name, password), { name, uid, groups: groups.split(',').filter(Boolean) });
  }
  return users;
}

function keyOf(name: string, password: string): string {
  return hashToken(`${name.length}:${name}:${password}`);
}

/**
 * `--basic-auth-file`: authenticates by user name and password in each request. Insecure, because passwords do not expire
 * and change only with a restart; upstream removed it in 1.19. Upstream:
 * apiserver/plugin/pkg/authenticator/password/passwordfile (v0.18).
 */
export class BasicAuth extends AuthenticationStrategy {
  readonly name = 'BasicAuth';

  constructor(readonly users: TokenTable) {
    super();
  }

  authenticate({ headers }: Credentials): void {
    const [, encoded] = /^basic ([^ ]+)$/i.exec(headers.authorization?.trim() ?? '') ?? [];
    if (encoded === undefined) return this.pass();
    const text = Buffer.from(encoded, 'base64').toString();
    const colon = text.indexOf(':');
    const user = colon < 0 ? undefined : this.users.get(keyOf(text.slice(0, colon), text.slice(colon + 1)));
    if (user) this.success(user);
    else this.fail('invalid username/password combination');
  }
}
