import { AuthenticationStrategy, type Credentials } from 'kubenest/sdk';
import { decodePath } from '#sdk/internal';
import type { ClientAuthorities } from './client-authorities.ts';

/** Headers in which a front proxy sends the authenticated user; names in lower case. */
export interface RequestHeaderNames {
  readonly username: readonly string[];
  readonly uid: readonly string[];
  readonly group: readonly string[];
  readonly extraPrefixes: readonly string[];
}

/**
 * Authenticates users by the headers of a front proxy, which authenticates itself by a certificate of
 * `--requestheader-client-ca-file` with one of the allowed common names (any if none is configured). Without such a
 * certificate the headers are ignored. The certificate is verified before the headers are read: a client with another
 * certificate that no authenticator accepts is not anonymous. Upstream: apiserver/pkg/authentication/request/headerrequest.
 */
export class RequestHeader extends AuthenticationStrategy {
  readonly name = 'RequestHeader';

  constructor(
    private readonly authorities: ClientAuthorities,
    private readonly allowedNames: readonly string[],
    private readonly headers: RequestHeaderNames,
  ) {
    super();
  }

  authenticate(credentials: Credentials): void {
    const verified = this.authorities.verify(credentials.peer);
    if (!verified) return this.pass();
    if (verified.error) return this.error(verified.error);
    const { commonName } = verified.leaf.subject;
    if (this.allowedNames.length > 0 && !this.allowedNames.includes(commonName))
      return this.fail(`x509: subject with cn=${commonName} is not in the allowed list`);
    const name = first(credentials, this.headers.username);
    if (name === '') return this.pass();
    const uid = first(credentials, this.headers.uid);
    const extra = extraOf(credentials, this.headers.extraPrefixes);
    this.success({
      name,
      groups: this.headers.group.flatMap((header) => credentials.headerValues(header)).filter(Boolean),
      ...(uid && { uid }),
      ...(extra.size > 0 && { extra: Object.fromEntries(extra) }),
    });
  }
}

function first(credentials: Credentials, names: readonly string[]): string {
  for (const name of names) {
    const [value = ''] = credentials.headers[name] === undefined ? [] : credentials.headerValues(name);
    if (value !== '') return value;
  }
  return '';
}

function extraOf(credentials: Credentials, prefixes: readonly string[]): Map<string, string[]> {
  const extra = new Map<string, string[]>();
  for (const prefix of prefixes) {
    for (const header of Object.keys(credentials.headers)) {
      if (!header.startsWith(prefix)) continue;
      const escaped = header.slice(prefix.length);
      const key = decodePath(escaped) ?? escaped;
      extra.set(key, [...(extra.get(key) ?? []), ...credentials.headerValues(header)]);
    }
  }
  return extra;
}
