import { Buffer } from 'node:buffer';
import { constants } from 'node:crypto';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import { type Certificate, parseCertificate } from '#apimachinery/x509/certificate';
import { contextTag } from '#apimachinery/x509/der-reader';
import { element, objectIdentifier, sequence } from '#apimachinery/x509/der-writer';
import { pemBlocks, pemOf } from '#apimachinery/x509/pem';
import { extendedKeyUsages } from '#apimachinery/x509/verify-certificate';

/**
 * The options of a handshake that asks clients for certificates of the authorities in a bundle (PEM). OpenSSL names the
 * authorities to clients and checks that a client has the key of its certificate. It must not judge the chain, since Node drops
 * the chain of a client that OpenSSL trusts: each authority is marked as one that is not trusted for clients. No session is
 * resumed, since a session holds the client's own certificate alone. docs/adr/0007 has the reasons.
 */
export function clientCertificateOptions(bundle: string): SecureContextOptions {
  const authorities = pemBlocks(bundle).filter(({ type, hasHeaders }) => type === 'CERTIFICATE' && !hasHeaders);
  return {
    ca: authorities.map(({ bytes }) => pemOf('TRUSTED CERTIFICATE', Buffer.concat([bytes, rejectedForClients]))).join(''),
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

/** OpenSSL's X509_CERT_AUX: `reject [0] IMPLICIT SEQUENCE OF OBJECT IDENTIFIER`. */
const rejectedForClients = sequence(element(contextTag(0, 'constructed'), objectIdentifier(extendedKeyUsages.clientAuth)));

/**
 * Reads the certificates that a client sent, its own first; empty if it sent none. Throws a DerError for certificates that
 * cannot be read. Node gives the chain once: the caller must keep it.
 */
export function readClientCertificates(socket: TLSSocket): Certificate[] {
  const certificates: Certificate[] = [];
  for (let next = socket.getPeerX509Certificate(); next; next = next.issuerCertificate) certificates.push(parseCertificate(next.raw));
  return certificates;
}
