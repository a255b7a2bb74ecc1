const texts: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
  ECONNRESET: 'read: connection reset by peer',
};

const unknownAuthority = 'x509: certificate signed by unknown authority';
/** Why a certificate is not taken, by Node's code. */
const certificateTexts: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  CERT_HAS_EXPIRED: 'x509: certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'x509: certificate has expired or is not yet valid',
};

/** What Go's net package says of a connection that could not be made. */
export function dialErrorText(error: unknown): string {
  const {
    code = '',
    address,
    port,
    hostname,
    message,
  } = error as NodeJS.ErrnoException & { address?: string; port?: number; hostname?: string };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${hostname}: no such host`;
  const text = Object.hasOwn(texts, code) ? texts[code] : undefined;
  if (text && address !== undefined) return `dial tcp ${address.includes(':') ? `[${address}]` : address}:${port}: ${text}`;
  if (Object.hasOwn(certificateTexts, code)) return `tls: failed to verify certificate: ${certificateTexts[code]}`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `tls: failed to verify certificate: x509: ${alternativeNames(error)}`;
  if (code === 'ECONNRESET' && message === 'socket hang up') return 'EOF';
  if (error instanceof AggregateError) return dialErrorText(error.errors[0]);
  return message;
}

/** Upstream: Go's crypto/x509 (HostnameError). */
function alternativeNames(error: unknown): string {
  const { host = '', cert } = error as { readonly host?: string; readonly cert?: { readonly subjectaltname?: string } };
  const names = [...(cert?.subjectaltname ?? '').matchAll(/DNS:([^,\s]+)/g)].map((match) => match[1]);
  if (names.length === 0) return `certificate is not valid for any names, but wanted to match ${host}`;
  return `certificate is valid for ${names.join(', ')}, not ${host}`;
}
