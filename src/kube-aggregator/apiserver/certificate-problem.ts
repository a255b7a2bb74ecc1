import { Buffer } from 'node:buffer';
import { isIP } from 'node:net';
import tls from 'node:tls';
import { type Certificate, parseCertificate } from '#apimachinery/x509/certificate';
import { CertificatePool, readCertificates } from '#apimachinery/x509/certificate-pool';
import { hostnameProblem } from '#apimachinery/x509/hostname';
import { extendedKeyUsages, validityProblem, verifyCertificate } from '#apimachinery/x509/verify-certificate';
import { trustOptions } from '#apiserver/network/trust';

/** What a server showed, its own certificate first, and what it is checked by. */
export interface ShownCertificate {
  readonly chain: readonly Certificate[];
  /** By which name or address it was called. */
  readonly name: string;
  /** PEM of the trust anchors. */
  readonly authorities: string;
  readonly now: Date;
}

/**
 * Why Go takes no such certificate; undefined if the reason is none of these. As there, dates count before names, and names
 * before signatures. Upstream: crypto/x509/verify.go (Certificate.Verify).
 */
export function certificateProblem({ chain: [leaf, ...others], name, authorities, now }: ShownCertificate): string | undefined {
  if (!leaf) return undefined;
  const roots = new CertificatePool(readCertificates(authorities).certificates);
  const options = { roots, intermediates: new CertificatePool(others), usage: extendedKeyUsages.serverAuth, now: now.getTime() };
  return validityProblem(leaf, options.now) ?? hostnameProblem(leaf, name) ?? verifyCertificate(leaf, options).problem;
}

/** Of what a server shows. */
const maxChain = 8;

export interface ShownAt {
  readonly host: string;
  readonly port: number;
  readonly servername: string;
  readonly timeoutMs: number;
}

/** The certificates that a server shows, its own first; nothing else is sent or read. Empty if it shows none in time, or none that can be read. */
export function shownCertificates({ host, port, servername, timeoutMs }: ShownAt): Promise<Certificate[]> {
  return new Promise((resolve) => {
    const name = isIP(servername) === 0 ? { servername } : {};
    const socket = tls.connect({ host, port, ...name, ...trustOptions({ insecure: true }) });
    const done = (chain: Certificate[]): void => {
      socket.destroy();
      resolve(chain);
    };
    socket.setTimeout(timeoutMs, () => done([]));
    socket.once('error', () => done([]));
    socket.once('secureConnect', () => done(chainOf(socket)));
  });
}

function chainOf(socket: tls.TLSSocket): Certificate[] {
  const chain: Certificate[] = [];
  try {
    for (let next = socket.getPeerX509Certificate(); next && chain.length < maxChain; next = next.issuerCertificate)
      chain.push(parseCertificate(Buffer.from(next.raw)));
  } catch {
    return [];
  }
  return chain;
}
