import { formatIP, parseIPSloppy } from '../validation/ip.ts';
import type { Certificate } from './certificate.ts';

/** Maximum number of names that an error lists. Upstream: crypto/x509/verify.go (maxNamesIncluded). */
const maxShownNames = 100;

/**
 * Returns why a certificate is not valid for a DNS name or IP address; undefined if it is. As in Go, only alternative names count, whereas
 * OpenSSL and Node fall back to the common name. Upstream: crypto/x509/verify.go (VerifyHostname).
 */
export function hostnameProblem(certificate: Certificate, name: string): string | undefined {
  const literal = name.replace(/^\[(.*)\]$/, '$1');
  const address = parseIPSloppy(literal);
  const { dns = [], addresses = [] } = certificate.alternativeNames ?? {};
  if (address) {
    const own = addresses.map((bytes) => formatIP({ bytes: unmapped(bytes) }));
    if (own.includes(formatIP(address))) return undefined;
    if (own.length === 0) return `x509: cannot validate certificate for ${literal} because it doesn't contain any IP SANs`;
    return notAmong(own, literal);
  }
  if (dns.some((pattern) => matches(pattern, name))) return undefined;
  if (!certificate.alternativeNames && matches(certificate.subject.commonName, name))
    return 'x509: certificate relies on legacy Common Name field, use SANs instead';
  return notAmong(dns, name);
}

function notAmong(names: readonly string[], name: string): string {
  if (names.length >= maxShownNames) return `x509: certificate is valid for ${names.length} names, but none matched ${name}`;
  if (names.length === 0) return `x509: certificate is not valid for any names, but wanted to match ${name}`;
  return `x509: certificate is valid for ${names.join(', ')}, not ${name}`;
}

/** Matches a name; a wildcard replaces the whole first label. */
function matches(pattern: string, name: string): boolean {
  const wanted = name.toLowerCase();
  const own = pattern.toLowerCase();
  if (!isHostname(wanted) || !isPattern(own)) return own !== '' && own !== '.' && own === wanted;
  const labels = wanted.replace(/\.$/, '').split('.');
  const patternLabels = own.split('.');
  if (labels.length !== patternLabels.length) return false;
  return patternLabels.every((label, at) => (at === 0 && label === '*') || label === labels[at]);
}

function isPattern(pattern: string): boolean {
  return pattern !== '*' && isHostname(pattern.startsWith('*.') ? `a${pattern.slice(1)}` : pattern) && !pattern.endsWith('.');
}

function isHostname(name: string): boolean {
  return name
    .replace(/\.$/, '')
    .split('.')
    .every((label) => /^(?!-)[a-z0-9_-]+$/.test(label));
}

/** Converts an IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) to IPv4. */
function unmapped(bytes: Uint8Array): number[] {
  const isMapped = bytes.length === 16 && bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return [...(isMapped ? bytes.subarray(12) : bytes)];
}
