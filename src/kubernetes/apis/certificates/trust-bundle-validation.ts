/** Validation of cluster trust bundles. Upstream: pkg/apis/certificates/validation/validation.go, pkg/apis/core/validation/names.go. */
import { type FieldError, fieldPath, invalid, tooLong } from '#apimachinery/validation/field';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { type Certificate, parseCertificate } from '#apimachinery/x509/certificate';
import { type PemBlock, pemBlocks } from '#apimachinery/x509/pem';
import { byteLength } from '#kubernetes/apis/core/validation/checks';
import { validateImmutable } from '#kubernetes/apis/immutable-field';
import { validateSignerName } from '#kubernetes/apis/core/validation/signer-names';
import type { ClusterTrustBundle } from '#kubernetes/schema/certificates_v1beta1.gen';

const maxBundleBytes = 1024 * 1024;
const specPath = fieldPath('spec');
const bundlePath = specPath.child('trustBundle');

export function validateClusterTrustBundle(bundle: ClusterTrustBundle): FieldError[] {
  const errors = validateNames(bundle);
  validateTrustBundle(errors, bundle.spec?.trustBundle ?? '');
  return errors;
}

/** Validates an update. An unchanged bundle stays valid even if parsers become stricter. */
export function validateClusterTrustBundleUpdate(bundle: ClusterTrustBundle, old: ClusterTrustBundle): FieldError[] {
  const text = bundle.spec?.trustBundle ?? '';
  const errors = text === (old.spec?.trustBundle ?? '') ? validateNames(bundle) : validateClusterTrustBundle(bundle);
  validateImmutable(errors, bundle.spec?.signerName ?? '', old.spec?.signerName ?? '', specPath, 'signerName');
  return errors;
}

function validateNames({ metadata: { name = '' }, spec }: ClusterTrustBundle): FieldError[] {
  const errors = nameProblems(name, spec?.signerName ?? '').map((message) => invalid(fieldPath('metadata', 'name'), name, message));
  if (spec?.signerName) validateSignerName(errors, spec.signerName, specPath.child('signerName'));
  return errors;
}

/** Returns the errors of a bundle's name. Names of a signer's bundles start with the signer's name, with colons for slashes. */
function nameProblems(name: string, signerName: string): readonly string[] {
  // That a name is required is the error of all objects.
  if (name === '') return [];
  if (signerName === '') {
    if (name.includes(':')) return ['ClusterTrustBundle without signer name must not have ":" in its name'];
    return nameIsDNSSubdomain(name, false);
  }
  const prefix = `${signerName.replaceAll('/', ':')}:`;
  if (!name.startsWith(prefix)) return [`ClusterTrustBundle for signerName ${signerName} must be named with prefix ${prefix}`];
  return nameIsDNSSubdomain(name.slice(prefix.length), false);
}

function validateTrustBundle(errors: FieldError[], text: string): void {
  if (byteLength(text) > maxBundleBytes) {
    errors.push(tooLong(bundlePath, '', maxBundleBytes));
    return;
  }
  const refuse = (detail: string): number => errors.push(invalid(bundlePath, '<value omitted>', detail));
  const before = errors.length;
  const entries = new Map<string, number[]>();
  for (const [i, block] of pemBlocks(text).entries()) {
    const problem = blockProblem(block);
    const content = block.bytes.toString('latin1');
    if (problem !== undefined) refuse(`entry ${i} ${problem}`);
    else entries.set(content, [...(entries.get(content) ?? []), i]);
  }
  if (errors.length > before) return;
  if (entries.size === 0) refuse('at least one trust anchor must be provided');
  for (const indices of entries.values()) if (indices.length > 1) refuse(`duplicate trust anchor (indices [${indices.join(' ')}])`);
}

function blockProblem({ type, hasHeaders, bytes }: PemBlock): string | undefined {
  if (type !== 'CERTIFICATE') return `has bad block type: ${type}`;
  if (hasHeaders) return 'has PEM block headers';
  let certificate: Certificate;
  try {
    certificate = parseCertificate(bytes);
  } catch {
    return 'does not parse as X.509';
  }
  return certificate.basicConstraints?.isAuthority ? undefined : 'does not have the CA bit set';
}
