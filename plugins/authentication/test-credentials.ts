import type { Credentials, Peer } from 'kubenest/sdk';

/** Credentials of a request with these headers, from a client without a certificate unless `peer` has one. */
export function credentialsOf(headers: Readonly<Record<string, string>> = {}, rest: Partial<Credentials> = {}): Credentials {
  const values = (name: string): string[] => (headers[name] === undefined ? [] : [headers[name]]);
  return { headers, headerValues: values, path: '/', peer: peerOf(), ...rest };
}

/** Connection of a client with these certificates, the leaf first. */
export function peerOf(certificates: Peer['certificates'] = []): Peer {
  return { remoteAddress: '', certificates, memo: new Map() };
}
