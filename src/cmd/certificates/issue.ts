import { createPrivateKey, generateKeyPair, type KeyObject, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { signCertificate } from './certificate-der.ts';

/** A certificate and its key in PEM; `cert` may contain a chain. */
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

const curve = 'prime256v1';
const dayMs = 86_400_000;
const authorityDays = 3650;
const leafDays = 365;
const generateKeys = promisify(generateKeyPair);

/** A certificate authority that can sign: ECDSA P-256, valid for ten years. */
export class Authority {
  private constructor(
    readonly pair: KeyPair,
    private readonly certificate: Uint8Array,
    private readonly privateKey: KeyObject,
  ) {}

  /** Creates an authority. */
  static async create(commonName: string): Promise<Authority> {
    const { publicKey, privateKey } = await newKeys();
    const template = { ...validity(authorityDays), publicKey, isAuthority: true, usages: [], names: [] };
    const certificate = signCertificate({ ...template, subject: [['CN', commonName]] }, { certificate: undefined, privateKey });
    return new Authority({ cert: pem(certificate), key: privatePem(privateKey) }, certificate, privateKey);
  }

  /** Loads an authority from its certificate and P-256 key. Throws for other keys. */
  static load(pair: KeyPair): Authority {
    const privateKey = createPrivateKey(pair.key);
    if (privateKey.asymmetricKeyDetails?.namedCurve !== curve) throw new Error('the key of the authority is not a P-256 key');
    return new Authority(pair, new X509Certificate(pair.cert).raw, privateKey);
  }

  /** Issues a certificate for one year. Its PEM also contains the authority's certificate as the last block, which is the trust anchor. */
  async issue({ commonName, organizations = [], names = [], usages }: CertificateRequest): Promise<KeyPair> {
    const { publicKey, privateKey } = await newKeys();
    const subject = [...organizations.map((name) => ['O', name] as const), ['CN', commonName] as const];
    const template = { subject, ...validity(leafDays), publicKey, isAuthority: false, usages, names };
    const certificate = signCertificate(template, { certificate: this.certificate, privateKey: this.privateKey });
    return { cert: pem(certificate) + this.pair.cert, key: privatePem(privateKey) };
  }
}

/** Creates a key pair without a certificate, in PEM: SEC1 and SubjectPublicKeyInfo. */
export async function newSigningKey(): Promise<{ readonly privateKey: string; readonly publicKey: string }> {
  const { publicKey, privateKey } = await newKeys();
  return { privateKey: privatePem(privateKey), publicKey: publicKey.export({ type: 'spki', format: 'pem' }) as string };
}

function newKeys(): Promise<{ readonly publicKey: KeyObject; readonly privateKey: KeyObject }> {
  return generateKeys('ec', { namedCurve: curve });
}

/** Validity period that starts slightly in the past, because clocks differ. */
function validity(days: number): { notBefore: Date; notAfter: Date } {
  const start = Date.now() - 3_600_000;
  return { notBefore: new Date(start), notAfter: new Date(start + days * dayMs) };
}

function pem(certificate: Uint8Array): string {
  return new X509Certificate(certificate).toString();
}

/** Encodes a key as SEC1 (`BEGIN EC PRIVATE KEY`), as kubeadm does for this curve: some clients do not support PKCS #8. */
function privatePem(key: KeyObject): string {
  return key.export({ type: 'sec1', format: 'pem' }) as string;
}
