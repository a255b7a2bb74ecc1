import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import type { ServingCertificate } from '#apiserver/server/serving/secure-server';

const dayMs = 86_400_000;

/** A certificate for 127.0.0.1 and localhost that is its own authority, made once for each process. */
export function issueServingCertificate(): Promise<ServingCertificate & { readonly certificateAuthority: string }> {
  return (issued ??= issue());
}

let issued: ReturnType<typeof issueServingCertificate> | undefined;

async function issue(): Promise<ServingCertificate & { readonly certificateAuthority: string }> {
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=kubenest-test',
    keys: keys as never,
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - dayMs),
    notAfter: new Date(Date.now() + 365 * dayMs),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
      ]),
    ],
  });
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  const cert = certificate.toString('pem');
  return { cert, key: x509.PemConverter.encode(key, 'PRIVATE KEY'), certificateAuthority: cert };
}
