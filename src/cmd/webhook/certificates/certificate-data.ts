import { X509Certificate } from 'node:crypto';
import { Authority, type KeyPair } from '#cmd/certificates/issue';
import { certificateNames, matches } from '#cmd/certificates/key-pair-files';

/** Certificates of a webhook server, which its replicas share. */
export interface CertificateData {
  /** Trusted authorities, PEM. The first one signs. */
  readonly authorities: readonly string[];
  readonly authorityKey: string;
  /** The authority that signs next. Clients trust it already. */
  readonly next?: KeyPair | undefined;
  readonly serving: KeyPair;
}

const dayMs = 86_400_000;
/** Remaining validity below which the serving certificate is issued again. */
const renewBeforeMs = 30 * dayMs;
/**
 * Remaining validity below which the next authority is created. Longer than a serving certificate lasts, so that none outlives its
 * authority.
 */
const nextAuthorityBeforeMs = 400 * dayMs;
/** Time in which all API servers learn the next authority before it signs. */
const overlapMs = 3_600_000;
/** An authority is valid from this time before its creation. */
const backdatedMs = 3_600_000;

/**
 * Returns the certificates with what has to change now; the argument itself if nothing has. An authority is replaced in two steps, because
 * a client must trust it before it signs:
 *
 * | state                                      | authorities    | signed by |
 * | ------------------------------------------ | -------------- | --------- |
 * | usual                                      | current        | current   |
 * | the current one lasts less than 400 days   | current, next  | current   |
 * | an hour later                              | next, current  | next      |
 */
export async function renewed(data: CertificateData | undefined, names: readonly string[]): Promise<CertificateData> {
  if (!data || !isUsable(data)) return newData(names);
  if (data.next) return ageMs(data.next.cert) >= overlapMs ? useNext(data, data.next, names) : withServing(data, names);
  const [current] = data.authorities as [string];
  if (lastsMs(current) >= nextAuthorityBeforeMs) return withServing(data, names);
  const { pair: next } = await Authority.create(authorityName);
  return { ...data, authorities: [current, next.cert], next };
}

const authorityName = 'kubenest-webhook-ca';

async function newData(names: readonly string[]): Promise<CertificateData> {
  const authority = await Authority.create(authorityName);
  return { authorities: [authority.pair.cert], authorityKey: authority.pair.key, serving: await issue(authority, names) };
}

async function useNext(data: CertificateData, next: KeyPair, names: readonly string[]): Promise<CertificateData> {
  const [current] = data.authorities as [string];
  return { authorities: [next.cert, current], authorityKey: next.key, serving: await issue(Authority.load(next), names) };
}

async function withServing(data: CertificateData, names: readonly string[]): Promise<CertificateData> {
  const present = certificateNames(data.serving.cert);
  if (lastsMs(data.serving.cert) >= renewBeforeMs && names.every((name) => present.includes(name))) return data;
  return { ...data, serving: await issue(signerOf(data), names) };
}

function signerOf({ authorities: [cert], authorityKey: key }: CertificateData): Authority {
  return Authority.load({ cert: cert as string, key });
}

function issue(authority: Authority, names: readonly string[]): Promise<KeyPair> {
  return authority.issue({ commonName: 'kubenest-webhook', names, usages: ['server'] });
}

/** True if the keys match their certificates and the authority signed the serving certificate and still lasts. */
function isUsable({ authorities: [cert], authorityKey: key, serving, next }: CertificateData): boolean {
  try {
    const authority = new X509Certificate(cert ?? '');
    if (!matches({ cert: cert as string, key }) || !matches(serving) || (next && !matches(next))) return false;
    return lastsMs(cert as string) > renewBeforeMs && new X509Certificate(serving.cert).verify(authority.publicKey);
  } catch {
    return false;
  }
}

function lastsMs(cert: string): number {
  return new X509Certificate(cert).validToDate.getTime() - Date.now();
}

function ageMs(cert: string): number {
  return Date.now() - backdatedMs - new X509Certificate(cert).validFromDate.getTime();
}
