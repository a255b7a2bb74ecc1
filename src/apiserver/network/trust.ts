import type { Buffer } from 'node:buffer';
import tls, { type ConnectionOptions, type PeerCertificate } from 'node:tls';
import { parseCertificate } from '#apimachinery/x509/certificate';
import { hostnameProblem } from '#apimachinery/x509/hostname';

/** Which servers a connection trusts. */
export interface Trust {
  /** PEM of the trust anchors; undefined: the authorities that Node knows. */
  readonly ca?: string | Buffer | undefined;
  /** Takes any certificate. */
  readonly insecure?: boolean | undefined;
}

export type TrustOptions = Pick<ConnectionOptions, 'allowPartialTrustChain' | 'ca' | 'checkServerIdentity' | 'rejectUnauthorized'>;

/**
 * The options of a TLS connection that the server makes, whatever it connects to: what is in a bundle is trusted, be it a root, an
 * intermediate or the server's own certificate, and only alternative names count, as in Go. OpenSSL wants a root and Node takes
 * common names unless they are told otherwise. No other code may decide what a connection trusts.
 */
export function trustOptions({ ca, insecure = false }: Trust): TrustOptions {
  return {
    rejectUnauthorized: !insecure,
    ...(!insecure && { allowPartialTrustChain: true, checkServerIdentity, ...(ca !== undefined && { ca }) }),
  };
}

/** The error has the code that Node gives it and the reason in Go's words. */
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

/** A context with which libraries connect that do not take `trustOptions` themselves. */
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
