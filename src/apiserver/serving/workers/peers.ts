import { Buffer } from 'node:buffer';
import { parseCertificate } from '#apimachinery/x509/certificate';
import type { Peer } from '#apiserver/request/exchange';

/** The certificates that a client sent, its own first, in DER. */
export function chainOf({ certificates }: Peer): Uint8Array[] {
  return certificates.map(({ der }) => new Uint8Array(der));
}

/** The peer of a connection whose worker has read the certificates already. */
export function peerFrom(remoteAddress: string, chain: readonly Uint8Array[]): Peer {
  return { remoteAddress, certificates: chain.map((der) => parseCertificate(Buffer.from(der))), memo: new Map() };
}
