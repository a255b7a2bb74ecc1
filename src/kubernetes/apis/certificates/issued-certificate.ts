/**
 * Validation of the certificates that a signer issues to pods. Upstream: pkg/apis/certificates/validation/validation.go
 * (ValidatePodCertificateRequestStatusUpdate).
 */
import { Buffer } from 'node:buffer';
import { KeyObject } from 'node:crypto';
import { type FieldError, fieldPath, invalid, omitValue, required, tooLong } from '#apimachinery/validation/field';
import { type Certificate, parseCertificate } from '#apimachinery/x509/certificate';
import { type PemBlock, pemBlocks } from '#apimachinery/x509/pem';
import { byteLength } from '#kubernetes/apis/core/validation/checks';
import type { PodCertificateRequestSpec, PodCertificateRequestStatus } from '#kubernetes/schema/certificates_v1beta1.gen';
import { parsePublicKey, readCertificateRequest } from './public-keys.ts';

const maxChainBytes = 100 * 1024;
const minute = 60_000;
const maxSkew = 5 * minute;
const minLifetime = 60 * minute;
/** Minimum distance of `beginRefreshAt` from both ends of the certificate's validity period. */
const refreshMargin = 10 * minute;

const chainPath = fieldPath('status', 'certificateChain');
const notBeforePath = fieldPath('status', 'notBefore');
const notAfterPath = fieldPath('status', 'notAfter');
const refreshPath = fieldPath('status', 'beginRefreshAt');

/**
 * Validates the certificates of a signer: the first must match the requested key, and be valid for the period in the status but no longer
 * than requested. `now` is in milliseconds.
 */
export function validateIssuedCertificate(status: PodCertificateRequestStatus, spec: PodCertificateRequestSpec, now: number): FieldError[] {
  const { certificateChain: chain = '' } = status;
  if (byteLength(chain) > maxChainBytes) return [tooLong(chainPath, chain, maxChainBytes)];
  const refuse = (detail: string): FieldError[] => [invalid(chainPath, chain, detail)];
  const [first, ...rest] = pemBlocks(chain);
  if (!first) return refuse('issued certificate chain must contain at least one certificate');
  if (first.type !== 'CERTIFICATE') return refuse('issued certificate chain must consist entirely of CERTIFICATE PEM blocks');
  const leaf = readCertificate(first);
  if (!leaf) return refuse('leaf certificate does not parse as valid X.509');
  const errors = nameErrors(leaf);
  const key = requestedKey(spec);
  if (!(key instanceof KeyObject)) return [...errors, key];
  if (!leaf.publicKey.key || !key.equals(leaf.publicKey.key))
    return [...errors, ...refuse('leaf certificate was not issued to the requested public key')];
  const missing = [...errors, ...missingTimes(status)];
  if (missing.length > 0) return missing;
  const timeError = timesError(status, leaf, spec.maxExpirationSeconds ?? 0, now);
  if (timeError) return [timeError];
  for (const block of rest) {
    // The typo is upstream's.
    if (block.type !== 'CERTIFICATE') return refuse('issued certificate chain must consist entirely of CERTFICATE PEM blocks');
    if (!readCertificate(block)) return refuse('intermediate certificate does not parse as valid X.509');
  }
  return [];
}

function readCertificate({ bytes }: PemBlock): Certificate | undefined {
  try {
    return parseCertificate(bytes);
  } catch {
    return undefined;
  }
}

function requestedKey({ stubPKCS10Request, pkixPublicKey = '' }: PodCertificateRequestSpec): KeyObject | FieldError {
  const key = stubPKCS10Request
    ? readCertificateRequest(Buffer.from(stubPKCS10Request, 'base64'))?.publicKey.key
    : parsePublicKey(Buffer.from(pkixPublicKey, 'base64'));
  if (key !== undefined && key !== 'unknown') return key;
  return stubPKCS10Request
    ? invalid(fieldPath('spec', 'stubPKCS10Request'), omitValue, 'must be a valid PKCS#10 CSR')
    : invalid(fieldPath('spec', 'pkixPublicKey'), omitValue, 'must be a valid PKIX-serialized public key');
}

function nameErrors({ alternativeNames }: Certificate): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of alternativeNames?.dns ?? []) {
    const refuse = (detail: string): number => errors.push(invalid(chainPath, name, detail));
    if (name === '') refuse('leaf certificate should not contain empty DNSName');
    if (name.includes('..')) refuse("leaf certificate's DNSName should not contain '..'");
    if (name.startsWith('.') || name.endsWith('.')) refuse("leaf certificate's DNSName should not start or end with '.'");
  }
  for (const name of alternativeNames?.emails ?? [])
    if (!isMailAddress(name)) errors.push(invalid(chainPath, name, 'leaf certificate should not contain invalid EmailAddress'));
  return errors;
}

/** True for `a@example` and `Somebody <a@example>`. */
function isMailAddress(text: string): boolean {
  const bracketed = /^[^<>]*<([^<>]*)>$/.exec(text)?.[1] ?? text;
  return /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()\\,;:"]+$/.test(bracketed);
}

function missingTimes({ notBefore, notAfter, beginRefreshAt }: PodCertificateRequestStatus): FieldError[] {
  const consistent = 'must be present and consistent with the issued certificate';
  const errors: FieldError[] = [];
  if (notBefore === undefined) errors.push(required(notBeforePath, consistent));
  if (notAfter === undefined) errors.push(required(notAfterPath, consistent));
  if (beginRefreshAt === undefined)
    errors.push(required(refreshPath, 'must be present and in the range [notbefore+10min, notafter-10min]'));
  return errors;
}

/** Returns the first error of the times, all of which are present. */
function timesError(
  { notBefore = '', notAfter = '', beginRefreshAt = '' }: PodCertificateRequestStatus,
  { notBefore: validFrom, notAfter: validTo }: Certificate,
  maxSeconds: number,
  now: number,
): FieldError | undefined {
  const begin = Date.parse(notBefore);
  const end = Date.parse(notAfter);
  const refresh = Date.parse(beginRefreshAt);
  const lifetime = validTo - validFrom;
  const shownLifetime = BigInt(lifetime) * 1_000_000n;
  if (begin !== validFrom) return invalid(notBeforePath, notBefore, 'must be set to the NotBefore time encoded in the leaf certificate');
  if (Math.abs(begin - now) >= maxSkew)
    return invalid(notBeforePath, notBefore, "must be set to within 5 minutes of kube-apiserver's current time");
  if (end !== validTo) return invalid(notAfterPath, notAfter, 'must be set to the NotAfter time encoded in the leaf certificate');
  if (lifetime < minLifetime) return invalid(chainPath, shownLifetime, 'leaf certificate lifetime must be >= 1 hour');
  if (lifetime > maxSeconds * 1000)
    return invalid(chainPath, shownLifetime, `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${maxSeconds})`);
  if (refresh < begin + refreshMargin) return invalid(refreshPath, beginRefreshAt, 'must be at least 10 minutes after status.notBefore');
  if (refresh > end - refreshMargin) return invalid(refreshPath, beginRefreshAt, 'must be at least 10 minutes before status.notAfter');
  return undefined;
}
