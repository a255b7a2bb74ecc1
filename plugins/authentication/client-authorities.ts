import { X509Certificate } from 'node:crypto';
import type { PeerCertificate } from 'node:tls';
import type { Peer } from 'kubenest/sdk';

const clientAuth = '1.3.6.1.5.5.7.3.2';
const anyUsage = '2.5.29.37.0';
const maxChain = 8;
const expired = 'x509: certificate has expired or is not yet valid';

/** A client's certificate, and what is wrong with it. */
export interface Verified {
  readonly leaf: X509Certificate;
  /** When the certificate itself ends, in milliseconds since 1970. */
  readonly notAfter: number;
  readonly error: string | undefined;
}

interface Chain extends Verified {
  readonly until: number;
}

/**
 * Authorities that sign certificates of clients. A chain is verified once for each connection, its expiry at each request.
 * Upstream: apiserver/pkg/authentication/request/x509/verify_options.go.
 */
export class ClientAuthorities {
  /** Under which a connection keeps its chain; another one after a reload. */
  #memo = Symbol('ClientAuthorities');
  #authorities: readonly X509Certificate[];

  /** `bundle`: PEM of the authorities. Throws for a bundle that has none. */
  constructor(bundle: string) {
    this.#authorities = parseBundle(bundle);
  }

  /** Trusts other authorities from now on, on open connections too. Throws as the constructor does, and keeps the old ones then. */
  reload(bundle: string): void {
    this.#authorities = parseBundle(bundle);
    this.#memo = Symbol('ClientAuthorities');
  }

  /** undefined for a client without a certificate. */
  verify(peer: Peer): Verified | undefined {
    if (!peer.certificate) return undefined;
    let chain = peer.memo.get(this.#memo) as Chain | undefined;
    if (!chain) {
      chain = verify(peer.certificate, this.#authorities);
      peer.memo.set(this.#memo, chain);
    }
    return chain.error === undefined && Date.now() > chain.until ? { ...chain, error: expired } : chain;
  }
}

export function parseBundle(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error('client CA: the bundle holds no certificate');
  return blocks.map((block) => new X509Certificate(block));
}

function verify(peer: PeerCertificate, authorities: readonly X509Certificate[]): Chain {
  const leaf = new X509Certificate(peer.raw);
  const notAfter = Date.parse(leaf.validTo);
  const fail = (error: string): Chain => ({ leaf, notAfter, error, until: 0 });
  const usages = leaf.keyUsage as unknown as readonly string[] | undefined;
  if (!usages || !(usages.includes(clientAuth) || usages.includes(anyUsage)))
    return fail('x509: certificate specifies an incompatible key usage');
  const intermediates = chainOf(peer).map((raw) => new X509Certificate(raw));
  const until = validUntil(leaf, intermediates, authorities);
  if (until === undefined) return fail('x509: certificate signed by unknown authority');
  return { leaf, notAfter, error: undefined, until };
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
