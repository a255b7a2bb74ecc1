import { X509Certificate } from 'node:crypto';
import type { PeerCertificate } from 'node:tls';
import type { Authenticator, Credentials, Peer, UserInfo } from 'kubenest/sdk';

const clientAuth = '1.3.6.1.5.5.7.3.2';
const anyUsage = '2.5.29.37.0';
/** Upstream: apiserver/pkg/authentication/request/x509 (the UID attribute of the subject). */
const uidAttribute = '1.3.6.1.4.1.57683.2';
const maxChain = 8;

interface Identity {
  readonly user: UserInfo | undefined;
  readonly error: Error | undefined;
  readonly until: number;
}

/**
 * Client certificates: signed by one of the authorities, for client authentication, valid now. The common name is the user,
 * organizations are the groups. Verified once for each connection, the expiry at each request.
 * Upstream: apiserver/pkg/authentication/request/x509/x509.go.
 */
export class ClientCA implements Authenticator {
  readonly name = 'ClientCA';
  /** Under which a connection keeps its identity; another one after a reload. */
  #memo = Symbol('ClientCA');
  #authorities: readonly X509Certificate[];

  /** `bundle`: PEM of the authorities. Throws for a bundle that has none. */
  constructor(bundle: string) {
    this.#authorities = parseBundle(bundle);
  }

  /** Trusts other authorities from now on, on open connections too. Throws as the constructor does, and keeps the old ones then. */
  reload(bundle: string): void {
    this.#authorities = parseBundle(bundle);
    this.#memo = Symbol('ClientCA');
  }

  authenticate({ peer }: Credentials): UserInfo | undefined {
    if (!peer.certificate) return undefined;
    const { user, error, until } = this.#identityOf(peer, peer.certificate);
    if (error) throw error;
    if (Date.now() > until) throw new Error('x509: certificate has expired or is not yet valid');
    return user;
  }

  #identityOf(peer: Peer, certificate: PeerCertificate): Identity {
    let identity = peer.memo.get(this.#memo) as Identity | undefined;
    if (!identity) {
      identity = verify(certificate, this.#authorities);
      peer.memo.set(this.#memo, identity);
    }
    return identity;
  }
}

export function parseBundle(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error('client CA: the bundle holds no certificate');
  return blocks.map((block) => new X509Certificate(block));
}

function verify(peer: PeerCertificate, authorities: readonly X509Certificate[]): Identity {
  const fail = (message: string): Identity => ({ user: undefined, error: new Error(message), until: 0 });
  const leaf = new X509Certificate(peer.raw);
  const usages = leaf.keyUsage as unknown as readonly string[] | undefined;
  if (!usages || !(usages.includes(clientAuth) || usages.includes(anyUsage)))
    return fail('x509: certificate specifies an incompatible key usage');
  const intermediates = chainOf(peer).map((raw) => new X509Certificate(raw));
  const until = validUntil(leaf, intermediates, authorities);
  if (until === undefined) return fail('x509: certificate signed by unknown authority');
  return { user: userOf(leaf), error: undefined, until };
}

/** What else the client sent, above its own certificate. */
function chainOf(peer: PeerCertificate): Buffer[] {
  const raws: Buffer[] = [];
  let at = (peer as { issuerCertificate?: PeerCertificate }).issuerCertificate;
  while (at?.raw && raws.length < maxChain && !raws.some((raw) => raw.equals(at?.raw as Buffer))) {
    raws.push(at.raw);
    at = (at as { issuerCertificate?: PeerCertificate }).issuerCertificate;
  }
  return raws;
}

/** The end of the shortest validity on a valid path to an authority; undefined if there is no such path. */
function validUntil(
  certificate: X509Certificate,
  intermediates: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
  depth = 0,
): number | undefined {
  const now = Date.now();
  if (depth > maxChain || Date.parse(certificate.validFrom) > now || Date.parse(certificate.validTo) < now) return undefined;
  const own = Date.parse(certificate.validTo);
  for (const authority of authorities) {
    if (certificate.fingerprint256 === authority.fingerprint256) return own;
    if (!certificate.checkIssued(authority) || !certificate.verify(authority.publicKey)) continue;
    const end = Date.parse(authority.validTo);
    if (end >= now) return Math.min(own, end);
  }
  for (const intermediate of intermediates) {
    if (!intermediate.ca || !certificate.checkIssued(intermediate) || !certificate.verify(intermediate.publicKey)) continue;
    const end = validUntil(intermediate, intermediates, authorities, depth + 1);
    if (end !== undefined) return Math.min(own, end);
  }
  return undefined;
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
