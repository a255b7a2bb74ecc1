import { Buffer } from 'node:buffer';
import { constants } from 'node:crypto';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import { type Certificate, parseCertificate } from '#apimachinery/x509/certificate';
import { contextTag } from '#apimachinery/x509/der-reader';
import { element, objectIdentifier, sequence } from '#apimachinery/x509/der-writer';
import { pemBlocks, pemOf } from '#apimachinery/x509/pem';
import { extendedKeyUsages } from '#apimachinery/x509/verify-certificate';

/**
 * Returns the options of a handshake that requests client certificates of the authorities in a bundle (PEM). OpenSSL sends the
 * authorities' names and verifies that the client has the key of its certificate. It must not verify the chain, because Node drops
 * the chain of a client that OpenSSL trusts; therefore each authority is marked as rejected for clients. Sessions are not resumed,
 * because a session contains only the client's own certificate. docs/adr/0007 has the reasons.
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
 * Reads the certificates of a client, its own first; empty if it sent none. Throws a DerError for invalid certificates. Node
 * returns the chain once, so the caller must keep it.
 */
export function readClientCertificates(socket: TLSSocket): Certificate[] {
  const certificates: Certificate[] = [];
  for (let next = socket.getPeerX509Certificate(); next; next = next.issuerCertificate) certificates.push(parseCertificate(next.raw));
  return certificates;
}
