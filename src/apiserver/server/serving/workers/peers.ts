import { X509Certificate } from 'node:crypto';
import type { DetailedPeerCertificate, PeerCertificate } from 'node:tls';
import type { Peer } from '#apiserver/endpoints/request/exchange';

/** Longer chains than these are cut: no authenticator looks further. */
const maxChain = 10;

/** The certificates that a client showed, its own first, in DER. */
export function chainOf({ certificate }: Peer): Uint8Array[] {
  const chain: Uint8Array[] = [];
  const seen = new Set<PeerCertificate>();
  let at = certificate as DetailedPeerCertificate | undefined;
  while (at?.raw && !seen.has(at) && chain.length < maxChain) {
    seen.add(at);
    chain.push(new Uint8Array(at.raw));
    at = at.issuerCertificate;
  }
  return chain;
}

/** The peer of a connection, from what its worker tells of it. */
export function peerFrom(remoteAddress: string, chain: readonly Uint8Array[]): Peer {
  const certificates = chain.map((der) => new X509Certificate(der).toLegacyObject() as DetailedPeerCertificate);
  certificates.forEach((certificate, at) => {
    const issuer = certificates[at + 1];
    if (issuer) certificate.issuerCertificate = issuer;
  });
  return { remoteAddress, certificate: certificates[0], memo: new Map() };
}
