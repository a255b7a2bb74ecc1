import { Buffer } from 'node:buffer';
import { isIP } from 'node:net';
import tls from 'node:tls';
import { type Certificate, parseCertificate } from '#apimachinery/x509/certificate';
import { CertificatePool, readCertificates } from '#apimachinery/x509/certificate-pool';
import { hostnameProblem } from '#apimachinery/x509/hostname';
import { extendedKeyUsages, validityProblem, verifyCertificate } from '#apimachinery/x509/verify-certificate';
import type { Dial } from '#apiserver/network/egress-selector/egress-selector';
import { trustOptions } from '#apiserver/network/trust';

/** A certificate chain, the server's own certificate first, and the inputs of its verification. */
export interface ShownCertificate {
  readonly chain: readonly Certificate[];
  /** DNS name or IP address that the client connected to. */
  readonly name: string;
  /** Trust anchors in PEM. */
  readonly authorities: string;
  readonly now: Date;
}

/**
 * Returns Go's error for the chain; undefined if the problem is none of those checked here. As in Go, dates are checked before names, and
 * names before signatures. Upstream: crypto/x509/verify.go (Certificate.Verify).
 */
export function certificateProblem({ chain: [leaf, ...others], name, authorities, now }: ShownCertificate): string | undefined {
  if (!leaf) return undefined;
  const roots = new CertificatePool(readCertificates(authorities).certificates);
  const options = { roots, intermediates: new CertificatePool(others), usage: extendedKeyUsages.serverAuth, now: now.getTime() };
  return validityProblem(leaf, options.now) ?? hostnameProblem(leaf, name) ?? verifyCertificate(leaf, options).problem;
}

/** Maximum length of a chain. */
const maxChain = 8;

export interface ShownAt {
  readonly host: string;
  readonly port: number;
  readonly servername: string;
  /** Dialer of connections; undefined: connect directly. */
  readonly dial: Dial | undefined;
  readonly timeoutMs: number;
}

/**
 * Connects and returns the server's certificates, its own first; no application data is exchanged. Empty after a timeout, if the
 * server is out of reach, or if it sends none that can be parsed.
 */
export async function shownCertificates({ host, port, servername, dial, timeoutMs }: ShownAt): Promise<Certificate[]> {
  let way: tls.ConnectionOptions;
  try {
    way = dial ? { socket: await dial({ host, port }, AbortSignal.timeout(timeoutMs)) } : { host, port };
  } catch {
    return [];
  }
  return new Promise((resolve) => {
    const name = isIP(servername) === 0 ? { servername } : {};
    const socket = tls.connect({ ...way, ...name, ...trustOptions({ insecure: true }) });
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
