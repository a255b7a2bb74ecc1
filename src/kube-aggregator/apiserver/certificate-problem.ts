import { type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import tls from 'node:tls';

/** The certificates of a bundle in PEM; what is none is left out. */
export function certificatesIn(bundle: string): X509Certificate[] {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.flatMap((block) => {
    try {
      return [new X509Certificate(block)];
    } catch {
      return [];
    }
  });
}

/** What a server showed, its own certificate first, and what it is checked by. */
export interface ShownCertificate {
  readonly chain: readonly X509Certificate[];
  /** By which name or address it was called. */
  readonly name: string;
  /** PEM of those who may have signed it. */
  readonly authorities: readonly X509Certificate[];
  readonly now: Date;
}

/**
 * Why Go takes no such certificate; undefined if the reason is none of these. As there, dates count before names, and names
 * before signatures. Upstream: Go's crypto/x509 (Certificate.Verify).
 */
export function certificateProblem({ chain, name, authorities, now }: ShownCertificate): string | undefined {
  const [leaf, ...intermediates] = chain;
  if (!leaf) return undefined;
  return dateProblem(leaf, now) ?? nameProblem(leaf, name) ?? authorityProblem(leaf, intermediates, authorities, now);
}

function dateProblem(certificate: X509Certificate, now: Date): string | undefined {
  const expired = 'x509: certificate has expired or is not yet valid: current time';
  const { validFromDate: from, validToDate: to } = certificate;
  if (now < from) return `${expired} ${seconds(now)} is before ${seconds(from)}`;
  return now > to ? `${expired} ${seconds(now)} is after ${seconds(to)}` : undefined;
}

/** RFC 3339. */
function seconds(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}

function nameProblem(leaf: X509Certificate, name: string): string | undefined {
  const address = name.replace(/^\[(.*)\]$/, '$1');
  const isAddress = isIP(address) !== 0;
  if (isAddress ? leaf.checkIP(address) !== undefined : leaf.checkHost(name, { subject: 'never' }) !== undefined) return undefined;
  const alternatives = leaf.subjectAltName;
  const valid = namesIn(alternatives, isAddress ? 'IP Address' : 'DNS');
  if (isAddress && valid.length === 0) return `x509: cannot validate certificate for ${address} because it doesn't contain any IP SANs`;
  if (alternatives === undefined && leaf.checkHost(name, { subject: 'always' }) !== undefined)
    return 'x509: certificate relies on legacy Common Name field, use SANs instead';
  if (valid.length === 0) return `x509: certificate is not valid for any names, but wanted to match ${name}`;
  return `x509: certificate is valid for ${valid.join(', ')}, not ${isAddress ? address : name}`;
}

function namesIn(alternatives = '', type: string): string[] {
  return alternatives
    .split(', ')
    .filter((entry) => entry.startsWith(`${type}:`))
    .map((entry) => entry.slice(type.length + 1));
}

/** Of an authority that has the issuer's name and did not sign it, Go gives a hint. */
function authorityProblem(
  leaf: X509Certificate,
  intermediates: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
  now: Date,
): string | undefined {
  let hint = '';
  const seen = new Set<X509Certificate>();
  const reaches = (certificate: X509Certificate): boolean => {
    seen.add(certificate);
    for (const [i, parent] of [...authorities, ...intermediates].entries()) {
      const isTrusted = i < authorities.length;
      if (isTrusted && certificate.fingerprint256 === parent.fingerprint256) return true;
      if (parent.subject !== certificate.issuer || seen.has(parent)) continue;
      const problem = signatureProblem(certificate, parent) ?? dateProblem(parent, now);
      if (problem === undefined && (isTrusted || reaches(parent))) return true;
      if (problem !== undefined)
        hint ||= ` (possibly because of ${JSON.stringify(problem)} while trying to verify candidate authority certificate ${JSON.stringify(commonName(parent))})`;
    }
    return false;
  };
  return reaches(leaf) ? undefined : `x509: certificate signed by unknown authority${hint}`;
}

function signatureProblem(certificate: X509Certificate, parent: X509Certificate): string | undefined {
  if (!parent.ca) return 'x509: certificate is not authorized to sign other certificates';
  return certificate.verify(parent.publicKey) ? undefined : verificationFailure(parent.publicKey);
}

function verificationFailure({ asymmetricKeyType }: KeyObject): string {
  if (asymmetricKeyType === 'ec') return 'x509: ECDSA verification failure';
  return asymmetricKeyType === 'ed25519' ? 'x509: Ed25519 verification failure' : 'crypto/rsa: verification error';
}

function commonName({ subject, serialNumber }: X509Certificate): string {
  const part = (type: string) => new RegExp(`^${type}=(.*)$`, 'm').exec(subject)?.[1];
  return part('CN') ?? part('O') ?? `serial:${BigInt(`0x${serialNumber}`)}`;
}

/** Of what a server shows. */
const maxChain = 8;

export interface ShownAt {
  readonly host: string;
  readonly port: number;
  readonly servername: string;
  readonly timeoutMs: number;
}

/** The certificates that a server shows, its own first; nothing else is sent or read. Empty if it shows none in time. */
export function shownCertificates({ host, port, servername, timeoutMs }: ShownAt): Promise<X509Certificate[]> {
  return new Promise((resolve) => {
    const name = isIP(servername) === 0 ? { servername } : {};
    const socket = tls.connect({ host, port, ...name, rejectUnauthorized: false });
    const done = (chain: X509Certificate[]): void => {
      socket.destroy();
      resolve(chain);
    };
    socket.setTimeout(timeoutMs, () => done([]));
    socket.once('error', () => done([]));
    socket.once('secureConnect', () => done(chainOf(socket.getPeerX509Certificate())));
  });
}

function chainOf(leaf: X509Certificate | undefined): X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (let next = leaf; next && chain.length < maxChain; next = next.issuerCertificate) {
    if (chain.some(({ fingerprint256 }) => fingerprint256 === next?.fingerprint256)) break;
    chain.push(next);
  }
  return chain;
}
