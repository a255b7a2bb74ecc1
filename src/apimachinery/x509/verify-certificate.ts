import { arePoliciesValid } from './certificate-policies.ts';
import type { CertificatePool } from './certificate-pool.ts';
import type { Certificate } from './certificate.ts';
import { constraintProblem } from './name-constraints.ts';
import { signatureProblem } from './signature.ts';

/** Extended key usages: RFC 5280, section 4.2.1.12. */
export const extendedKeyUsages = { any: '2.5.29.37.0', serverAuth: '1.3.6.1.5.5.7.3.1', clientAuth: '1.3.6.1.5.5.7.3.2' } as const;

export interface VerifyOptions {
  /** Trust anchors: roots, intermediates or leaves. */
  readonly roots: CertificatePool;
  /** Intermediate certificates between the leaf and a trust anchor. */
  readonly intermediates: CertificatePool;
  /** The extended key usage that every certificate of a path must allow. */
  readonly usage: string;
  /** Current time in milliseconds since 1970. */
  readonly now: number;
}

/** The paths from a certificate to trust anchors, or the error. */
export type Verdict =
  | { readonly paths: readonly (readonly Certificate[])[]; readonly problem?: never }
  | { readonly paths?: never; readonly problem: string };

/** Maximum number of signature checks in one verification. */
const maxSignatureChecks = 100;
const signatureLimit = 'x509: signature check attempts limit reached while verifying certificate chain';
const notAuthorizedToSign = 'x509: certificate is not authorized to sign other certificates';
const invalidSignature = 'x509: invalid signature: parent certificate cannot sign this kind of certificate';

/**
 * Builds the valid paths from a certificate to trust anchors by RFC 5280, like Go:
 *
 * | check                                          | applies to                                |
 * |------------------------------------------------|-------------------------------------------|
 * | no unhandled critical extension, validity      | every certificate                         |
 * | signature, not by SHA-1                        | every certificate except the trust anchor |
 * | basic constraints, keyCertSign                 | every certificate that signed another one |
 * | path length                                    | every certificate except the leaf         |
 * | extended key usage, name constraints, policies | the path as a whole                       |
 *
 * Upstream: crypto/x509/verify.go (Certificate.Verify).
 */
export function verifyCertificate(leaf: Certificate, options: VerifyOptions): Verdict {
  const problem = validityProblem(leaf, options.now);
  if (problem !== undefined) return { problem };
  if (options.roots.has(leaf)) return acceptablePaths([[leaf]], options.usage);
  const built = buildPaths([leaf], options, { count: 0 });
  return built.problem === undefined ? acceptablePaths(built.paths, options.usage) : built;
}

/**
 * Finds paths depth first. If there is none, it returns the last error of an authority whose signature is valid; without such an authority,
 * the error is that the authority is unknown, with the first problem of a candidate as a hint.
 */
function buildPaths(path: readonly Certificate[], options: VerifyOptions, checks: { count: number }): Verdict {
  const child = path.at(-1) as Certificate;
  const paths: (readonly Certificate[])[] = [];
  let hint = '';
  let failure: string | undefined;
  const possible = [
    ...options.roots.possibleIssuers(child).map((candidate) => ({ candidate, as: 'root' as const })),
    ...options.intermediates.possibleIssuers(child).map((candidate) => ({ candidate, as: 'intermediate' as const })),
  ];
  for (const { candidate, as } of possible) {
    if (++checks.count > maxSignatureChecks) {
      failure = signatureLimit;
      break;
    }
    if (!candidate.publicKey.key || isOnPath(candidate, path)) continue;
    const unsigned = issuerProblem(child, candidate);
    if (unsigned === undefined) failure = validityProblem(candidate, options.now) ?? authorityProblem(candidate, path, as);
    const problem = unsigned ?? failure;
    if (problem !== undefined) hint ||= hintOf(problem, candidate);
    else if (as === 'root') paths.push([...path, candidate]);
    else {
      const above = buildPaths([...path, candidate], options, checks);
      failure = above.problem;
      paths.push(...(above.paths ?? []));
    }
  }
  return paths.length > 0 ? { paths } : { problem: failure ?? `x509: certificate signed by unknown authority${hint}` };
}

function hintOf(problem: string, candidate: Certificate): string {
  return ` (possibly because of ${JSON.stringify(problem)} while trying to verify candidate authority certificate ${JSON.stringify(nameOf(candidate))})`;
}

function nameOf({ subject, serialNumber }: Certificate): string {
  return subject.commonName || (subject.organizations[0] ?? `serial:${serialNumber}`);
}

/** Returns the error of a certificate by itself, at a time in milliseconds since 1970. */
export function validityProblem({ hasUnhandledCritical, notBefore, notAfter }: Certificate, now: number): string | undefined {
  if (hasUnhandledCritical) return 'x509: unhandled critical extension';
  // Times of certificates are whole seconds, and the certificate expires at the beginning of the last one.
  const expired = 'x509: certificate has expired or is not yet valid: current time';
  if (now < notBefore) return `${expired} ${rfc3339(now)} is before ${rfc3339(notBefore)}`;
  return now > notAfter ? `${expired} ${rfc3339(now)} is after ${rfc3339(notAfter)}` : undefined;
}

function rfc3339(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Returns why the candidate did not sign the child. Upstream: crypto/x509/x509.go (CheckSignatureFrom). */
function issuerProblem(child: Certificate, { version, basicConstraints, maySignCertificates, publicKey }: Certificate): string | undefined {
  if (basicConstraints ? !basicConstraints.isAuthority : version === 3) return invalidSignature;
  if (maySignCertificates === false) return invalidSignature;
  return signatureProblem(child, publicKey);
}

/** Returns why a candidate cannot be the next authority of the path. */
function authorityProblem(
  { basicConstraints }: Certificate,
  path: readonly Certificate[],
  as: 'root' | 'intermediate',
): string | undefined {
  if (as === 'intermediate' && !basicConstraints?.isAuthority) return notAuthorizedToSign;
  return path.length - 1 > (basicConstraints?.maxPathLength ?? Number.POSITIVE_INFINITY)
    ? 'x509: too many intermediates for path length constraint'
    : undefined;
}

/** True if a certificate with the same name, key and alternative names is on the path; cross-certification alone is not a loop. */
function isOnPath(candidate: Certificate, path: readonly Certificate[]): boolean {
  return path.some(
    (certificate) =>
      certificate.subject.der.equals(candidate.subject.der) &&
      certificate.publicKey.der.equals(candidate.publicKey.der) &&
      certificate.alternativeNamesValue?.toString('hex') === candidate.alternativeNamesValue?.toString('hex'),
  );
}

function acceptablePaths(built: readonly (readonly Certificate[])[], usage: string): Verdict {
  let constraint: string | undefined;
  let wrongUsage = 0;
  let wrongPolicies = 0;
  const paths = built.filter((path) => {
    if (!arePoliciesValid(path)) wrongPolicies++;
    else if (!allowsUsage(path, usage)) wrongUsage++;
    else {
      const problem = pathConstraintProblem(path);
      constraint ??= problem;
      return problem === undefined;
    }
    return false;
  });
  if (paths.length > 0) return { paths };
  if (constraint !== undefined)
    return { problem: `x509: a root or intermediate certificate is not authorized to sign for this name: ${constraint}` };
  if (wrongPolicies === 0) return { problem: 'x509: certificate specifies an incompatible key usage' };
  const usages = wrongUsage > 0 ? `${wrongUsage} candidate chains with incompatible key usage, ` : '';
  return { problem: `x509: no valid chains built: ${usages}${wrongPolicies} candidate chains with invalid policies` };
}

/** True if every certificate with extended key usages includes this one or any. */
function allowsUsage(path: readonly Certificate[], usage: string): boolean {
  return path.every(({ extendedKeyUsages: own }) => own.length === 0 || own.includes(extendedKeyUsages.any) || own.includes(usage));
}

/** Applies the constraints of each authority to the names of all certificates below it. */
function pathConstraintProblem(path: readonly Certificate[]): string | undefined {
  for (const [at, { nameConstraints }] of path.entries()) {
    if (!nameConstraints) continue;
    for (const { alternativeNames } of path.slice(0, at)) {
      const problem = alternativeNames && constraintProblem(nameConstraints, alternativeNames);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}
