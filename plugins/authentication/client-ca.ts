import type { X509Certificate } from 'node:crypto';
import { AuthenticationStrategy, type Credentials, type Peer, type UserInfo } from 'kubenest/sdk';
import type { ClientAuthorities } from './client-authorities.ts';

/** Upstream: apiserver/pkg/authentication/request/x509 (the UID attribute of the subject). */
const uidAttribute = '1.3.6.1.4.1.57683.2';

/**
 * Client certificates: signed by one of the authorities, for client authentication, valid now. The common name is the user,
 * organizations are the groups. Verified once for each connection, the expiry at each request.
 * Upstream: apiserver/pkg/authentication/request/x509/x509.go.
 */
export class ClientCA extends AuthenticationStrategy {
  readonly name = 'ClientCA';

  /** `onCertificate`: told, at each request that comes with a certificate, for how many seconds it is valid yet. */
  constructor(
    private readonly authorities: ClientAuthorities,
    private readonly onCertificate?: (seconds: number) => void,
  ) {
    super();
  }

  authenticate({ peer }: Credentials): void {
    const verified = this.authorities.verify(peer);
    if (!verified) return this.pass();
    this.onCertificate?.((verified.notAfter - Date.now()) / 1_000);
    if (verified.error) return this.fail(verified.error);
    const user = userOfConnection(peer, verified.leaf);
    if (user.name === '') this.pass();
    else this.success(user);
  }
}

const userMemo = Symbol('ClientCA user');

/** The user of a certificate, made once for each connection. */
function userOfConnection(peer: Peer, leaf: X509Certificate): UserInfo {
  let user = peer.memo.get(userMemo) as UserInfo | undefined;
  if (!user) {
    user = userOf(leaf);
    peer.memo.set(userMemo, user);
  }
  return user;
}

function userOf(leaf: X509Certificate): UserInfo {
  const subject = leaf.toLegacyObject().subject as unknown as Record<string, string | string[] | undefined>;
  const all = (value: string | string[] | undefined): string[] => (value === undefined ? [] : Array.isArray(value) ? value : [value]);
  const name = all(subject['CN']).at(-1) ?? '';
  const uid = all(subject[uidAttribute])[0];
  return {
    name,
    groups: all(subject['O']),
    ...(uid !== undefined && { uid }),
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${leaf.fingerprint256.replaceAll(':', '').toLowerCase()}`] },
  };
}
