/** Validation of certificate signing requests. Upstream: pkg/apis/certificates/validation/validation.go. */
import { Buffer } from 'node:buffer';
import { deepEqual } from '#apimachinery/runtime/equality';
import { quote } from '#apimachinery/runtime/quote';
import {
  addError,
  addErrors,
  duplicate,
  type FieldError,
  fieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  stopIfTooMany,
  named,
} from '#apimachinery/validation/field';
import { parseCertificate } from '#apimachinery/x509/certificate';
import { parsePemCertificateRequest, requestSignatureProblem } from '#apimachinery/x509/certificate-request';
import { pemBlocks } from '#apimachinery/x509/pem';
import { validateSignerName } from '#kubernetes/apis/core/validation/signer-names';
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '#kubernetes/schema/certificates_v1.gen';

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const approvalTypes = ['Approved', 'Denied'] as const;
/** Condition types that must not be False or Unknown. */
const lastingTypes = [...approvalTypes, 'Failed'];
const legacySigner = 'kubernetes.io/legacy-unknown';
const minExpirationSeconds = 600;
const conditionsPath = fieldPath('status', 'conditions');
const certificatePath = fieldPath('status', 'certificate');

/** Changes that an update may make; updates of the main resource may make none of them. */
interface Allowed {
  readonly approval?: boolean;
  readonly certificate?: boolean;
}

export function validateCertificateSigningRequest(request: CertificateSigningRequest): FieldError[] {
  return validate(request, undefined);
}

/** Validates an update of the main resource, or of a subresource with its allowed changes. */
export function validateCertificateSigningRequestUpdate(
  request: CertificateSigningRequest,
  old: CertificateSigningRequest,
  allowed: Allowed = {},
): FieldError[] {
  const errors = validate(request, old);
  for (const type of lastingTypes) {
    if (conditionsOf(request, type).length < conditionsOf(old, type).length)
      errors.push(forbidden(conditionsPath, `updates may not remove a condition of type ${quote(type)}`));
  }
  if (!allowed.approval) for (const type of approvalTypes) addErrors(errors, approvalErrors(request, old, type));
  const { certificate = '' } = request.status ?? {};
  const { certificate: before = '' } = old.status ?? {};
  if (certificate !== before) {
    if (!allowed.certificate) errors.push(forbidden(certificatePath, 'updates may not set certificate content'));
    else if (before !== '') errors.push(forbidden(certificatePath, 'updates may not modify existing certificate content'));
  }
  return errors;
}

function approvalErrors(request: CertificateSigningRequest, old: CertificateSigningRequest, type: string): FieldError[] {
  const before = conditionsOf(old, type);
  const now = conditionsOf(request, type);
  if (now.length > before.length) return [forbidden(conditionsPath, `updates may not add a condition of type ${quote(type)}`)];
  if (now.length < before.length || deepEqual(before, now)) return [];
  return [forbidden(conditionsPath, `updates may not modify a condition of type ${quote(type)}`)];
}

/** Validates a request. Values of the old object stay allowed. */
function validate(request: CertificateSigningRequest, old: CertificateSigningRequest | undefined): FieldError[] {
  const spec = fieldPath('spec');
  const { request: pem = '', usages: wanted = [], signerName, expirationSeconds } = request.spec ?? {};
  const before = old?.spec?.usages ?? [];
  const errors: FieldError[] = [];
  const problem = certificateRequestProblem(pem);
  if (problem !== undefined) errors.push(invalid(spec.child('request'), request.spec?.request ?? null, problem));
  if (wanted.length === 0) errors.push(required(spec.child('usages')));
  if (before.every((usage) => usages.includes(usage))) {
    for (const [i, usage] of wanted.entries())
      if (!usages.includes(usage)) addError(errors, notSupported(spec.child('usages').index(i), usage, usages));
  }
  if (new Set(before).size === before.length) {
    const seen = new Set<string>();
    for (const [i, usage] of wanted.entries()) {
      if (seen.has(usage)) addError(errors, duplicate(spec.child('usages').index(i), named(usage)));
      seen.add(usage);
    }
  }
  if (signerName === legacySigner && old?.spec?.signerName !== legacySigner)
    errors.push(invalid(spec.child('signerName'), signerName, 'the legacy signerName is not allowed via this API version'));
  else validateSignerName(errors, signerName, spec.child('signerName'));
  if (expirationSeconds !== undefined && expirationSeconds < minExpirationSeconds)
    errors.push(
      invalid(spec.child('expirationSeconds'), expirationSeconds, 'may not specify a duration less than 600 seconds (10 minutes)'),
    );
  validateConditions(errors, request, old);
  const certificateError = allowsArbitraryCertificate(request, old) ? undefined : certificateProblem(request.status?.certificate);
  if (certificateError !== undefined) errors.push(invalid(certificatePath, '<certificate data>', certificateError));
  return errors;
}

function validateConditions(errors: FieldError[], request: CertificateSigningRequest, old: CertificateSigningRequest | undefined): void {
  const before = old?.status?.conditions ?? [];
  const allowsBoth = approvalTypes.every((type) => before.some((condition) => condition.type === type));
  const allowsEmpty = before.some(({ type }) => !type);
  const allowsDuplicates = new Set(before.map(({ type }) => type)).size < before.length;
  const seen = new Set<string>();
  for (const [i, { type = '', status = '' }] of (request.status?.conditions ?? []).entries()) {
    const path = conditionsPath.index(i);
    if (type === '' && !allowsEmpty) errors.push(required(path.child('type')));
    const values = lastingTypes.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    if (status === '') errors.push(required(path.child('status')));
    else if (!values.includes(status)) errors.push(notSupported(path.child('status'), status, values));
    const other = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined;
    if (!allowsBoth && other !== undefined && seen.has(other))
      errors.push(invalid(conditionsPath, type, 'Approved and Denied conditions are mutually exclusive'));
    if (!allowsDuplicates && seen.has(type)) errors.push(duplicate(path.child('type'), named(type)));
    seen.add(type);
    stopIfTooMany(errors);
  }
}

function allowsArbitraryCertificate(request: CertificateSigningRequest, old: CertificateSigningRequest | undefined): boolean {
  if (!old) return false;
  const before = old.status?.certificate ?? '';
  return (request.status?.certificate ?? '') === before || certificateProblem(before) !== undefined;
}

/** Returns the error of a certificate chain in PEM (base64). An empty chain is valid. */
function certificateProblem(encoded: string | undefined): string | undefined {
  if (!encoded) return undefined;
  const blocks = pemBlocks(Buffer.from(encoded, 'base64').toString('latin1'));
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block';
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${quote(type)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    const problem = problemOf(() => parseCertificate(bytes));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Returns the error of the signature or encoding of a request (PEM in base64); undefined if it is valid. */
function certificateRequestProblem(pem: string): string | undefined {
  let problem: string | undefined;
  const unreadable = problemOf(() => {
    problem = requestSignatureProblem(parsePemCertificateRequest(pem));
  });
  return unreadable ?? problem;
}

/** Returns the message of the error that `read` throws; undefined if it does not throw. */
function problemOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function conditionsOf({ status }: CertificateSigningRequest, type: string): CertificateSigningRequestCondition[] {
  return (status?.conditions ?? []).filter((condition) => condition.type === type);
}
