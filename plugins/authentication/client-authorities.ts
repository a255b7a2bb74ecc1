import { type Certificate, CertificatePool, extendedKeyUsages, parseCertificateBundle, type Peer, verifyCertificate } from 'kubenest/sdk';

/** A client's certificate, and what is wrong with it. */
export interface Verified {
  readonly leaf: Certificate;
  /** Undefined for a certificate that leads to an authority. */
  readonly error: Error | undefined;
}

/** A verdict, and until when it stays the same, in milliseconds since 1970. */
interface Remembered extends Verified {
  readonly until: number;
}

/**
 * The trust anchors of client certificates: roots, intermediates or certificates of clients. A chain is verified once for each
 * connection, and again when a certificate begins or ends to be valid, or when the anchors change.
 * Upstream: apiserver/pkg/authentication/request/x509.
 */
export class ClientAuthorities {
  /** The key under which a connection keeps its verdict; another one after a reload. */
  #memo = Symbol('ClientAuthorities');
  #roots: CertificatePool;

  /** `bundle`: PEM of the anchors. Throws for a bundle that has none. */
  constructor(
    bundle: string,
    private readonly now: () => number = Date.now,
  ) {
    this.#roots = parseBundle(bundle);
  }

  /** Trusts other anchors from now on, on open connections too. Throws as the constructor does, and keeps the old ones then. */
  reload(bundle: string): void {
    this.#roots = parseBundle(bundle);
    this.#memo = Symbol('ClientAuthorities');
  }

  /** undefined for a client without a certificate. */
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

/** The first time after now at which one of the certificates begins or ends to be valid. */
function nextChange(certificates: readonly Certificate[], now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { notBefore, notAfter } of certificates) {
    // A certificate is still valid at its last millisecond.
    for (const time of [notBefore, notAfter + 1]) if (time > now) next = Math.min(next, time);
  }
  return next;
}

/** Upstream: certificateIdentifier. */
function identityOf({ serialNumber, subjectKeyId, authorityKeyId }: Certificate): string {
  const hex = (bytes: Buffer | undefined): string => bytes?.toString('hex').toUpperCase().match(/../g)?.join(':') ?? '';
  return `SN=${serialNumber}, SKID=${hex(subjectKeyId)}, AKID=${hex(authorityKeyId)}`;
}

/** Throws for a bundle without certificates, or with one that cannot be read. */
export function parseBundle(pem: string): CertificatePool {
  return new CertificatePool(parseCertificateBundle(pem));
}
