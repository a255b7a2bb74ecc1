import type { Buffer } from 'node:buffer';
import tls, { type ConnectionOptions, type PeerCertificate } from 'node:tls';
import { parseCertificate } from '#apimachinery/x509/certificate';
import { hostnameProblem } from '#apimachinery/x509/hostname';

/** Server certificates that a connection trusts. */
export interface Trust {
  /** PEM of the trust anchors; undefined: Node's default authorities. */
  readonly ca?: string | Buffer | undefined;
  /** True if any certificate is accepted. */
  readonly insecure?: boolean | undefined;
}

export type TrustOptions = Pick<ConnectionOptions, 'allowPartialTrustChain' | 'ca' | 'checkServerIdentity' | 'rejectUnauthorized'>;

/**
 * Returns the TLS options of all outgoing connections. As in Go, every certificate of the bundle is a trust anchor (root,
 * intermediate or leaf), and only subject alternative names are matched; by default OpenSSL requires a root and Node accepts common
 * names. No other code may set trust options.
 */
export function trustOptions({ ca, insecure = false }: Trust): TrustOptions {
  return {
    rejectUnauthorized: !insecure,
    ...(!insecure && { allowPartialTrustChain: true, checkServerIdentity, ...(ca !== undefined && { ca }) }),
  };
}

/** Verifies the host name of a certificate. The error has Node's code and Go's text. */
export function checkServerIdentity(name: string, certificate: PeerCertificate): Error | undefined {
  const problem = problemOf(name, certificate);
  return problem === undefined
    ? undefined
    : Object.assign(new Error(problem), { code: 'ERR_TLS_CERT_ALTNAME_INVALID', host: name, cert: certificate });
}

function problemOf(name: string, { raw }: PeerCertificate): string | undefined {
  try {
    return hostnameProblem(parseCertificate(raw), name);
  } catch (error) {
    return (error as Error).message;
  }
}

/** Returns a secure context for libraries that do not accept `trustOptions`. */
export function trustContext(
  trust: Trust,
  own: { readonly cert?: string | Buffer | undefined; readonly key?: string | Buffer | undefined },
): tls.SecureContext {
  const { ca, allowPartialTrustChain } = trustOptions(trust);
  return tls.createSecureContext({
    ...(ca !== undefined && { ca }),
    ...(allowPartialTrustChain && { allowPartialTrustChain }),
    ...(own.cert !== undefined && { cert: own.cert }),
    ...(own.key !== undefined && { key: own.key }),
  });
}
