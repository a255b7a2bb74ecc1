import { AuthenticationStrategy, type Certificate, type Credentials, type Peer, type UserInfo } from 'kubenest/sdk';
import { fingerprintOf } from '#sdk/internal';
import type { ClientAuthorities } from './client-authorities.ts';

/** OID of the UID attribute in the subject. Upstream: apiserver/pkg/authentication/request/x509. */
const uidAttribute = '1.3.6.1.4.1.57683.2';

export interface ClientCAOptions {
  /** Feature gate AllowParsingUserUIDFromCertAuth: the subject may have the user's UID. */
  readonly readsUid: boolean;
  /** Called for each request with a certificate, with its remaining validity in seconds. */
  readonly onCertificate?: (seconds: number) => void;
}

/**
 * Authenticates by client certificate: issued by a trusted authority for client authentication and currently valid. The
 * common name is the user name, organizations are the groups. The chain is verified once for each connection, the validity
 * period at each request. Upstream: apiserver/pkg/authentication/request/x509/x509.go.
 */
export class ClientCA extends AuthenticationStrategy {
  readonly name = 'ClientCA';

  constructor(
    private readonly authorities: ClientAuthorities,
    private readonly options: ClientCAOptions,
  ) {
    super();
  }

  authenticate({ peer }: Credentials): void {
    const verified = this.authorities.verify(peer);
    if (!verified) return this.pass();
    const { leaf, error } = verified;
    this.options.onCertificate?.((leaf.notAfter - Date.now()) / 1_000);
    if (error) return this.error(error);
    if (leaf.subject.commonName === '') return this.pass();
    const user = userOfConnection(peer, leaf, this.options.readsUid);
    if (user instanceof Error) this.error(user);
    else this.success(user);
  }
}

const userMemo = Symbol('ClientCA user');

/** Returns the user of a certificate, computed once for each connection; an error if the subject is invalid. */
function userOfConnection(peer: Peer, leaf: Certificate, readsUid: boolean): UserInfo | Error {
  let user = peer.memo.get(userMemo) as UserInfo | Error | undefined;
  if (!user) {
    user = userOf(leaf, readsUid);
    peer.memo.set(userMemo, user);
  }
  return user;
}

function userOf(leaf: Certificate, readsUid: boolean): UserInfo | Error {
  const { commonName, organizations } = leaf.subject;
  const [uid, ...more] = readsUid ? leaf.subject.values(uidAttribute) : [];
  if (more.length > 0) return new Error(`expected 1 UID, but found multiple: [${[uid, ...more].join(' ')}]`);
  if (uid === '') return new Error('UID cannot be an empty string');
  return {
    name: commonName,
    groups: [...organizations],
    ...(uid !== undefined && { uid }),
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprintOf(leaf)}`] },
  };
}
