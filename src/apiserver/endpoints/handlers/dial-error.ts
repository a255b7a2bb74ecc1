const texts: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
  ECONNRESET: 'read: connection reset by peer',
};

const unknownAuthority = 'x509: certificate signed by unknown authority';
/** Go's errors of certificate verification by Node's code. */
const certificateTexts: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  CERT_SIGNATURE_FAILURE: unknownAuthority,
  INVALID_CA: unknownAuthority,
  PATH_LENGTH_EXCEEDED: 'x509: too many intermediates for path length constraint',
  INVALID_PURPOSE: 'x509: certificate specifies an incompatible key usage',
  CERT_HAS_EXPIRED: 'x509: certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'x509: certificate has expired or is not yet valid',
};
/** Go's errors of certificates by OpenSSL's text, for errors to which Node gives no code. */
const certificateTextsByMessage: Readonly<Record<string, string>> = {
  'unhandled critical extension': 'x509: unhandled critical extension',
};
const wrongName = 'ERR_TLS_CERT_ALTNAME_INVALID';

/** Go's errors of the TLS handshake by OpenSSL's code. Upstream: Go's crypto/tls/alert.go. */
const handshakeTexts: Readonly<Record<string, string>> = {
  // The peer does not use TLS; usually it responds with an HTTP error.
  ERR_SSL_WRONG_VERSION_NUMBER: 'http: server gave HTTP response to HTTPS client',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'http: server gave HTTP response to HTTPS client',
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: 'remote error: tls: bad certificate',
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: 'remote error: tls: handshake failure',
  ERR_SSL_SSL_TLS_ALERT_BAD_CERTIFICATE: 'remote error: tls: bad certificate',
  ERR_SSL_SSL_TLS_ALERT_HANDSHAKE_FAILURE: 'remote error: tls: handshake failure',
  ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR: 'remote error: tls: internal error',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'remote error: tls: protocol version not supported',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'remote error: tls: unknown certificate authority',
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: 'remote error: tls: unrecognized name',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'remote error: tls: certificate required',
};

/** True if a connection failed because of the peer's certificate. */
export function isCertificateError(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return code === wrongName || Object.hasOwn(certificateTexts, code);
}

/** Returns the text of Go's net package for a failed connection. */
export function dialErrorText(error: unknown): string {
  const {
    code = '',
    address,
    port,
    hostname,
    message,
  } = error as NodeJS.ErrnoException & { address?: string; port?: number; hostname?: string };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${hostname}: no such host`;
  const text = textOf(texts, code);
  if (text && address !== undefined) return `dial tcp ${address.includes(':') ? `[${address}]` : address}:${port}: ${text}`;
  const certificateText = textOf(certificateTexts, code) ?? textOf(certificateTextsByMessage, message);
  if (certificateText) return untrusted(certificateText);
  // network/trust.ts has used Go's text already.
  if (code === wrongName) return untrusted(message);
  if (code === 'ECONNRESET' && message === 'socket hang up') return 'EOF';
  if (error instanceof AggregateError) return dialErrorText(error.errors[0]);
  return textOf(handshakeTexts, code) ?? message;
}

/** Returns the text of Go's net/http for an untrusted certificate; `problem` is in the words of crypto/x509. */
export function untrusted(problem: string): string {
  return `tls: failed to verify certificate: ${problem}`;
}

function textOf(table: Readonly<Record<string, string>>, code: string): string | undefined {
  return Object.hasOwn(table, code) ? table[code] : undefined;
}
