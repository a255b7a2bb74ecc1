import { Buffer } from 'node:buffer';
import { parseCertificate } from '#apimachinery/x509/certificate';
import type { Peer } from '#apiserver/request/exchange';

/** Returns the certificates of a client in DER, its own first. */
export function chainOf({ certificates }: Peer): Uint8Array[] {
  return certificates.map(({ der }) => new Uint8Array(der));
}

/** Returns the peer of a connection whose certificates the worker has read. */
export function peerFrom(remoteAddress: string, chain: readonly Uint8Array[]): Peer {
  return { remoteAddress, certificates: chain.map((der) => parseCertificate(Buffer.from(der))), memo: new Map() };
}
