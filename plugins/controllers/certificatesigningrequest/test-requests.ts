import { Buffer } from 'node:buffer';
import { webcrypto } from 'node:crypto';
import { cryptoProvider, type JsonGeneralName, Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** Returns a PKCS#10 request with a new key: PEM, in base64. */
export async function newRequest(name: string, names: readonly JsonGeneralName[] = []): Promise<string> {
  cryptoProvider.set(webcrypto as never);
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const extensions = names.length > 0 ? [new SubjectAlternativeNameExtension([...names])] : [];
  const made = await Pkcs10CertificateRequestGenerator.create({ name, keys: keys as never, signingAlgorithm: algorithm, extensions });
  return Buffer.from(made.toString('pem')).toString('base64');
}
