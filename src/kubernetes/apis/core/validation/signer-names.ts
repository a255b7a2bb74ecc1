/** Validation of the names of signers and of their trust bundles. Upstream: pkg/apis/core/validation/names.go. */
import { quote } from '#apimachinery/runtime/quote';
import { type FieldError, type Path, invalid, required, tooLong } from '#apimachinery/validation/field';
import { isDNS1123Label, isDNS1123Subdomain, nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { byteLength } from './checks.ts';

/** Length of a domain, a slash, and a namespace, dot and name. */
const maxSignerNameLength = 253 + (253 + 63 + 1) + 1;

/** True for `kubernetes.io/…` and its subdomains. */
export function isKubernetesSignerName(signerName: string): boolean {
  const host = signerName.split('/', 1)[0]!;
  return host === 'kubernetes.io' || host.endsWith('.kubernetes.io');
}

/** Validates `example.com/signer-name`: a domain of at least two labels, and a path of dot-separated names. */
export function validateSignerName(errors: FieldError[], signerName: string | undefined, path: Path): void {
  if (!signerName) {
    errors.push(required(path));
    return;
  }
  const [domain = '', name, ...more] = signerName.split('/');
  if (name === undefined || more.length > 0) {
    errors.push(invalid(path, signerName, "must be a fully qualified domain and path of the form 'example.com/signer-name'"));
    return;
  }
  if (byteLength(domain) > 253) errors.push(tooLong(path, '', 253));
  validateLabels(errors, domain, isDNS1123Label, path);
  if (!domain.includes('.')) errors.push(invalid(path, domain, 'should be a domain with at least two segments separated by dots'));
  validateLabels(errors, name, isDNS1123Subdomain, path);
  if (byteLength(signerName) > maxSignerNameLength) errors.push(tooLong(path, '', maxSignerNameLength));
}

/** Reports the first dot-separated label that breaks the rule. */
function validateLabels(errors: FieldError[], segment: string, rule: (label: string) => readonly string[], path: Path): void {
  for (const label of segment.split('.')) {
    const wrong = rule(label);
    for (const message of wrong) errors.push(invalid(path, segment, `validating label ${quote(label)}: ${message}`));
    if (wrong.length > 0) return;
  }
}

/** Returns the errors of a bundle's name. The part before its last colon is the name of its signer. */
export function clusterTrustBundleNameErrors(name: string): readonly string[] {
  const colon = name.lastIndexOf(':');
  return nameIsDNSSubdomain(colon < 0 ? name : name.slice(colon + 1), false);
}
