/** Validation of pod certificate requests. Upstream: pkg/apis/certificates/validation/validation.go. */
import { Buffer } from 'node:buffer';
import { constants, type KeyObject, verify } from 'node:crypto';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import {
  type FieldError,
  fieldPath,
  invalid,
  notSupported,
  notSupportedText,
  omitValue,
  required,
  tooLong,
} from '#apimachinery/validation/field';
import { nameIsDNSSubdomain, validateServiceAccountName } from '#apimachinery/validation/names';
import { fieldImmutableError, validateConditions } from '#apimachinery/validation/object-meta';
import { requestSignatureProblem } from '#apimachinery/x509/certificate-request';
import { byteLength } from '#kubernetes/apis/core/validation/checks';
import { isKubernetesSignerName, validateSignerName } from '#kubernetes/apis/core/validation/signer-names';
import { validateUserAnnotations } from '#kubernetes/apis/core/validation/user-annotations';
import { structValue } from '#kubernetes/apis/struct-value';
import type {
  PodCertificateRequest,
  PodCertificateRequestSpec,
  PodCertificateRequestStatus,
} from '#kubernetes/schema/certificates_v1beta1.gen';
import { validateIssuedCertificate } from './issued-certificate.ts';
import { keyProblem, parsePublicKey, readCertificateRequest } from './public-keys.ts';

/** Condition types that end a request permanently. */
const lastingTypes = ['Issued', 'Denied', 'Failed'];
const maxUidBytes = 128;
const maxKeyBytes = 10 * 1024;
const minExpirationSeconds = 60 * 60;
const maxExpirationSeconds = 91 * 24 * 60 * 60;
const kubernetesMaxExpirationSeconds = 24 * 60 * 60;

const spec = fieldPath('spec');
const status = fieldPath('status');
const conditionsPath = status.child('conditions');
const keyPath = spec.child('pkixPublicKey');
const proofPath = spec.child('proofOfPossession');
const requestPath = spec.child('stubPKCS10Request');

export function validatePodCertificateRequest({ spec: wanted = {} }: PodCertificateRequest): FieldError[] {
  const errors: FieldError[] = [];
  validateSignerName(errors, wanted.signerName, spec.child('signerName'));
  validateUserAnnotations(errors, wanted.unverifiedUserAnnotations ?? {}, spec.child('unverifiedUserAnnotations'));
  validateReference(errors, wanted, ['podName', 'podUID'], nameIsDNSSubdomain);
  validateReference(errors, wanted, ['serviceAccountName', 'serviceAccountUID'], validateServiceAccountName);
  validateReference(errors, wanted, ['nodeName', 'nodeUID'], nameIsDNSSubdomain);
  const { signerName = '', maxExpirationSeconds: seconds } = wanted;
  const path = spec.child('maxExpirationSeconds');
  if (seconds === undefined) return [...errors, required(path, 'must be set')];
  const max = isKubernetesSignerName(signerName) ? kubernetesMaxExpirationSeconds : maxExpirationSeconds;
  if (seconds < minExpirationSeconds || seconds > max)
    errors.push(invalid(path, seconds, `must be in the range [${minExpirationSeconds}, ${max}]`));
  const keyError = validateKey(wanted);
  return keyError ? [...errors, keyError] : errors;
}

type ReferenceFields = readonly [name: 'podName' | 'serviceAccountName' | 'nodeName', uid: 'podUID' | 'serviceAccountUID' | 'nodeUID'];

function validateReference(
  errors: FieldError[],
  wanted: PodCertificateRequestSpec,
  [nameField, uidField]: ReferenceFields,
  nameProblems: (name: string, prefix: boolean) => readonly string[],
): void {
  const name = wanted[nameField] ?? '';
  for (const message of nameProblems(name, false)) errors.push(invalid(spec.child(nameField), name, message));
  const uid = wanted[uidField] ?? '';
  if (uid === '') errors.push(invalid(spec.child(uidField), uid, 'must not be empty'));
  if (byteLength(uid) > maxUidBytes) errors.push(tooLong(spec.child(uidField), uid, maxUidBytes));
}

/**
 * Validates the key, which is contained in a certificate request signed with it, or (deprecated) given bare together with the signed pod
 * uid.
 */
function validateKey(wanted: PodCertificateRequestSpec): FieldError | undefined {
  const { stubPKCS10Request = '', pkixPublicKey = '', proofOfPossession = '', podUID = '' } = wanted;
  if (stubPKCS10Request && !pkixPublicKey && !proofOfPossession) return validateStubRequest(Buffer.from(stubPKCS10Request, 'base64'));
  if (!stubPKCS10Request && pkixPublicKey && proofOfPossession) return validatePublicKey(pkixPublicKey, proofOfPossession, podUID);
  return invalid(spec, omitValue, 'exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set');
}

function validatePublicKey(encoded: string, proof: string, podUid: string): FieldError | undefined {
  const bytes = Buffer.from(encoded, 'base64');
  const signature = Buffer.from(proof, 'base64');
  if (bytes.length > maxKeyBytes) return tooLong(keyPath, encoded, maxKeyBytes);
  if (signature.length > maxKeyBytes) return tooLong(proofPath, proof, maxKeyBytes);
  const key = parsePublicKey(bytes);
  if (key === undefined || key === 'unknown') return invalid(keyPath, encoded, 'must be a valid PKIX-serialized public key');
  const problem = keyProblem(key);
  switch (problem?.kind) {
    case 'curve':
      return invalid(keyPath, problem.shown, 'elliptic public keys must use curve P256 or P384');
    case 'modulus':
      return invalid(keyPath, problem.shown, 'RSA keys must have modulus size 3072 or 4096');
    case 'type':
      return invalid(keyPath, encoded, 'unknown public key type; supported types are Ed25519, ECDSA, and RSA');
    case undefined:
      return isSignedBy(key, podUid, signature)
        ? undefined
        : invalid(proofPath, omitValue, 'could not verify proof-of-possession signature');
  }
}

function isSignedBy(key: KeyObject, text: string, signature: Buffer): boolean {
  const isRsa = key.asymmetricKeyType === 'rsa';
  const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
  const hash = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  return verify(hash, Buffer.from(text), isRsa ? { key, ...padding } : key, signature);
}

function validateStubRequest(bytes: Buffer): FieldError | undefined {
  if (bytes.length > maxKeyBytes) return tooLong(requestPath, '', maxKeyBytes);
  const request = readCertificateRequest(bytes);
  if (!request) return invalid(requestPath, omitValue, 'must be a valid PKCS#10 CSR');
  const { key } = request.publicKey;
  const problem = key ? keyProblem(key) : { kind: 'type' as const, shown: '' };
  switch (problem?.kind) {
    case 'curve':
      return invalid(requestPath, problem.shown, 'elliptic public keys must use curve P256, P384, or P521');
    case 'modulus':
      return invalid(requestPath, problem.shown, 'RSA keys must have modulus size 3072 or 4096');
    case 'type':
      return invalid(requestPath, omitValue, 'unknown public key type; supported types are Ed25519, ECDSA, and RSA');
    case undefined:
      return requestSignatureProblem(request) === undefined ? undefined : invalid(requestPath, omitValue, 'invalid signature');
  }
}

export function validatePodCertificateRequestUpdate(
  { spec: now = {} }: PodCertificateRequest,
  { spec: old = {} }: PodCertificateRequest,
): FieldError[] {
  if (semanticDeepEqual(now, old)) return [];
  const shown = structValue({
    SignerName: now.signerName ?? '',
    PodName: now.podName ?? '',
    PodUID: now.podUID ?? '',
    ServiceAccountName: now.serviceAccountName ?? '',
    ServiceAccountUID: now.serviceAccountUID ?? '',
    NodeName: now.nodeName ?? '',
    NodeUID: now.nodeUID ?? '',
    MaxExpirationSeconds: now.maxExpirationSeconds,
    PKIXPublicKey: now.pkixPublicKey,
    ProofOfPossession: now.proofOfPossession,
    StubPKCS10Request: now.stubPKCS10Request,
    UnverifiedUserAnnotations: now.unverifiedUserAnnotations,
  });
  return [invalid(spec, shown, fieldImmutableError)];
}

/**
 * Validates an update of the status, which is written once, together with the condition that ends the request:
 *
 * | the old one has ended | the new one ends with | allowed changes                             |
 * | --------------------- | --------------------- | ------------------------------------------- |
 * | yes                   | any                   | none                                        |
 * | no                    | Denied, Failed        | conditions                                  |
 * | no                    | Issued                | all; the certificate must match the request |
 * | no                    | none                  | none                                        |
 *
 * `now` is the time of the request, RFC 3339.
 */
export function validatePodCertificateRequestStatusUpdate(
  request: PodCertificateRequest,
  old: PodCertificateRequest,
  now: string,
): FieldError[] {
  const { status: wanted = {} } = request;
  const { status: before = {} } = old;
  const errors = conditionErrors(wanted);
  if (errors.length > 0) return errors;
  const unless = (isFine: boolean, detail: string): FieldError[] => (isFine ? [] : [invalid(status, omitValue, detail)]);
  if (endOf(before) !== undefined)
    return unless(semanticDeepEqual(wanted, before), 'immutable after PodCertificateRequest is issued, denied, or failed');
  switch (endOf(wanted)) {
    case 'Denied':
    case 'Failed': {
      const isBare = semanticDeepEqual(wanted, { conditions: wanted.conditions });
      return unless(isBare, 'non-condition status fields must be empty when denying or failing the PodCertificateRequest');
    }
    case 'Issued':
      return validateIssuedCertificate(wanted, old.spec ?? {}, Date.parse(now));
    default:
      return unless(semanticDeepEqual(wanted, before), 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"');
  }
}

function endOf({ conditions = [] }: PodCertificateRequestStatus): string | undefined {
  return conditions.find(({ type = '', status: value }) => lastingTypes.includes(type) && value === 'True')?.type;
}

function conditionErrors({ conditions = [] }: PodCertificateRequestStatus): FieldError[] {
  const errors: FieldError[] = [];
  let known = 0;
  for (const [i, { type = '', status: value = '' }] of conditions.entries()) {
    // Upstream writes the index as a name: `status.conditions.[0].type`.
    const path = conditionsPath.child(`[${i}]`);
    if (!lastingTypes.includes(type)) {
      errors.push(notSupportedText(path.child('type'), type, lastingTypes));
      continue;
    }
    known += 1;
    if (known > 1)
      errors.push(invalid(path.child('type'), type, 'There may be at most one condition with type "Issued", "Denied", or "Failed"'));
    if (value !== 'True') errors.push(notSupported(path.child('status'), value, ['True']));
  }
  return [...errors, ...validateConditions(conditions, conditionsPath)];
}
