import { Buffer } from 'node:buffer';
import { AuthenticationStrategy, type Credentials } from 'kubenest/sdk';
import { parseCsvLine } from './csv.ts';
import { hashToken, type TokenTable } from './token-auth.ts';

/**
 * Users with passwords: lines `password,user,uid[,"group1,group2"]`, as kube-apiserver read them up to 1.18. The key of a
 * user is the hash of name and password, so that a lookup tells nothing by its time. Throws with the number of a wrong line.
 */
export function parsePasswordFile(text: string): TokenTable {
  const users = new Map<string, { name: string; uid: string; groups: string[] }>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const fields = parseCsvLine(line);
    const [password = '', name = '', uid = '', groups = ''] = fields;
    if (fields.length < 3)
      throw new Error(`password file: line ${index + 1} has ${fields.length} columns, but at least password, user name and uid are needed`);
    users.set(keyOf(name, password), { name, uid, groups: groups.split(',').filter(Boolean) });
  }
  return users;
}

function keyOf(name: string, password: string): string {
  return hashToken(`${name.length}:${name}:${password}`);
}

/**
 * `--basic-auth-file`: a name and a password with each request. Insecure, as passwords neither end nor change without a
 * restart; upstream removed it in 1.19. Upstream: apiserver/plugin/pkg/authenticator/password/passwordfile (v0.18).
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
