import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(webcrypto);

/** A certificate and its key, both PEM; `cert` may hold the chain. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** DNS names and IP addresses. */
  readonly names?: readonly string[];
  readonly usages: readonly ('server' | 'client')[];
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const dayMs = 86_400_000;
const authorityDays = 3650;
const leafDays = 365;
const usageIds = { server: x509.ExtendedKeyUsage.serverAuth, client: x509.ExtendedKeyUsage.clientAuth } as const;

/** A certificate authority that can sign: ECDSA P-256, ten years. */
export class Authority {
  private constructor(
    readonly pair: KeyPair,
    private readonly certificate: x509.X509Certificate,
    private readonly key: webcrypto.CryptoKey,
  ) {}

  /** A new one of that name. */
  static async create(commonName: string): Promise<Authority> {
    const keys = await newKeys();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      serialNumber: newSerial(),
      name: [{ CN: [commonName] }],
      ...validity(authorityDays),
      signingAlgorithm: algorithm,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment | x509.KeyUsageFlags.keyCertSign,
          true,
        ),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    return new Authority({ cert: pem(certificate), key: await privatePem(keys.privateKey) }, certificate, keys.privateKey);
  }

  /** The one whose certificate and key (PKCS #8, P-256) these are. Rejects for any others. */
  static async load(pair: KeyPair): Promise<Authority> {
    const [der] = x509.PemConverter.decode(pair.key);
    const key = await webcrypto.subtle.importKey('pkcs8', der as ArrayBuffer, algorithm, false, ['sign']);
    return new Authority(pair, new x509.X509Certificate(pair.cert), key);
  }

  /** A certificate for a year. Its PEM holds the authority's behind its own, so that its last block is whom to trust. */
  async issue({ commonName, organizations = [], names = [], usages }: CertificateRequest): Promise<KeyPair> {
    const keys = await newKeys();
    const subject = [...(organizations.length > 0 ? [{ O: [...organizations] }] : []), { CN: [commonName] }];
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: newSerial(),
      subject,
      issuer: this.certificate.subjectName,
      ...validity(leafDays),
      publicKey: keys.publicKey,
      signingKey: this.key,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment, true),
        new x509.ExtendedKeyUsageExtension(usages.map((usage) => usageIds[usage])),
        new x509.BasicConstraintsExtension(false, undefined, true),
        await x509.AuthorityKeyIdentifierExtension.create(this.certificate),
        ...(names.length > 0
          ? [new x509.SubjectAlternativeNameExtension(names.map((name) => ({ type: isIP(name) === 0 ? 'dns' : 'ip', value: name })))]
          : []),
      ],
    });
    return { cert: pem(certificate) + this.pair.cert, key: await privatePem(keys.privateKey) };
  }
}

/** A key pair without a certificate, PEM: PKCS #8 and SubjectPublicKeyInfo. */
export async function newSigningKey(): Promise<{ readonly privateKey: string; readonly publicKey: string }> {
  const keys = await newKeys();
  const spki = await webcrypto.subtle.exportKey('spki', keys.publicKey);
  return { privateKey: await privatePem(keys.privateKey), publicKey: `${x509.PemConverter.encode(spki, 'PUBLIC KEY')}\n` };
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

/** A little before now, since clocks differ. */
function validity(days: number): { notBefore: Date; notAfter: Date } {
  const start = Date.now() - 3_600_000;
  return { notBefore: new Date(start), notAfter: new Date(start + days * dayMs) };
}

/** Positive, 16 bytes. */
function newSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] as number) & 0x3f) | 0x40;
  return bytes.toString('hex');
}

function pem(certificate: x509.X509Certificate): string {
  return `${certificate.toString('pem')}\n`;
}

async function privatePem(key: webcrypto.CryptoKey): Promise<string> {
  return `${x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')}\n`;
}
