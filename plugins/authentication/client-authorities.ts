import type { Certificate, Peer } from 'kubenest/sdk';
import { CertificatePool, extendedKeyUsages, parseCertificateBundle, verifyCertificate } from '#sdk/internal';

/** A client certificate with its verification error. */
export interface Verified {
  readonly leaf: Certificate;
  /** undefined for a valid certificate. */
  readonly error: Error | undefined;
}

/** A cached result with its expiry, in milliseconds since 1970. */
interface Remembered extends Verified {
  readonly until: number;
}

/**
 * Trust anchors of client certificates: roots, intermediates or client certificates. A chain is verified once for each
 * connection, and again when the validity of a certificate starts or ends or when the anchors change. Upstream:
 * apiserver/pkg/authentication/request/x509.
 */
export class ClientAuthorities {
  /** Key of the cached result on a connection; replaced by a reload. */
  #memo = Symbol('ClientAuthorities');
  #roots: CertificatePool;

  /** `bundle` contains the anchors as PEM. Throws if it has none. */
  constructor(
    bundle: string,
    private readonly now: () => number = Date.now,
  ) {
    this.#roots = parseBundle(bundle);
  }

  /** Replaces the trust anchors, also for open connections. Throws like the constructor and then keeps the old anchors. */
  reload(bundle: string): void {
    this.#roots = parseBundle(bundle);
    this.#memo = Symbol('ClientAuthorities');
  }

  /** Verifies a client's certificate; undefined if it has none. */
  verify({ certificates, memo }: Peer): Verified | undefined {
    const [leaf, ...others] = certificates;
    if (!leaf) return undefined;
    const now = this.now();
    let verdict = memo.get(this.#memo) as Remembered | undefined;
    if (!verdict || now >= verdict.until) {
      verdict = this.#verify(leaf, others, now);
      memo.set(this.#memo, verdict);
    }
    return verdict;
  }

  #verify(leaf: Certificate, others: readonly Certificate[], now: number): Remembered {
    const roots = this.#roots;
    const intermediates = new CertificatePool(others);
    const { problem } = verifyCertificate(leaf, { roots, intermediates, usage: extendedKeyUsages.clientAuth, now });
    const error = problem === undefined ? undefined : new Error(`verifying certificate ${identityOf(leaf)} failed: ${problem}`);
    return { leaf, error, until: nextChange([leaf, ...others, ...roots.certificates], now) };
  }
}

/** Returns the next time at which the validity of any certificate starts or ends. */
function nextChange(certificates: readonly Certificate[], now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { notBefore, notAfter } of certificates) {
    // A certificate is valid until the end of its last millisecond.
    for (const time of [notBefore, notAfter + 1]) if (time > now) next = Math.min(next, time);
  }
  return next;
}

/** Identifies a certificate in errors. Upstream: certificateIdentifier. */
function identityOf({ serialNumber, subjectKeyId, authorityKeyId }: Certificate): string {
  const hex = (bytes: Buffer | undefined): string => bytes?.toString('hex').toUpperCase().match(/../g)?.join(':') ?? '';
  return `SN=${serialNumber}, SKID=${hex(subjectKeyId)}, AKID=${hex(authorityKeyId)}`;
}

/** Parses a PEM bundle. Throws if it contains no certificates or an invalid one. */
export function parseBundle(pem: string): CertificatePool {
  return new CertificatePool(parseCertificateBundle(pem));
}
