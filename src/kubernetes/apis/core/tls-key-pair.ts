import { Buffer } from 'node:buffer';
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { type Certificate, parseCertificate } from '#apimachinery/x509/certificate';
import { type PemBlock, pemBlocks } from '#apimachinery/x509/pem';

const isPrivateKey = ({ type }: PemBlock): boolean => type.endsWith('PRIVATE KEY');

/**
 * Returns the error of a certificate and its private key, both base64 of PEM; undefined if they match. Upstream: crypto/tls, X509KeyPair.
 */
export function keyPairProblem(certificate = '', privateKey = ''): string | undefined {
  const certificateBlocks = blocksOf(certificate);
  const keyBlocks = blocksOf(privateKey);
  const first = certificateBlocks.find(({ type }) => type === 'CERTIFICATE');
  if (!first) return `tls: ${missingCertificate(certificateBlocks)}`;
  const key = keyBlocks.find(isPrivateKey);
  if (!key) return `tls: ${missingKey(keyBlocks)}`;
  let leaf: Certificate;
  try {
    leaf = parseCertificate(first.bytes);
  } catch (error) {
    return (error as Error).message;
  }
  const { key: publicKey } = leaf.publicKey;
  if (!publicKey) return 'tls: unknown public key algorithm';
  const parsed = parsePrivateKey(key.bytes);
  if (!parsed) return 'tls: failed to parse private key';
  if (parsed.asymmetricKeyType !== publicKey.asymmetricKeyType) return 'tls: private key type does not match public key type';
  return createPublicKey(parsed).equals(publicKey) ? undefined : 'tls: private key does not match public key';
}

function blocksOf(base64: string): PemBlock[] {
  return pemBlocks(Buffer.from(base64, 'base64').toString('latin1'));
}

function typesOf(blocks: readonly PemBlock[]): string {
  return `[${blocks.map(({ type }) => type).join(' ')}]`;
}

function missingCertificate(blocks: readonly PemBlock[]): string {
  if (blocks.length === 0) return 'failed to find any PEM data in certificate input';
  if (blocks.length === 1 && isPrivateKey(blocks[0]!))
    return 'failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  return `failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: ${typesOf(blocks)}`;
}

function missingKey(blocks: readonly PemBlock[]): string {
  if (blocks.length === 0) return 'failed to find any PEM data in key input';
  if (blocks.length === 1 && blocks[0]!.type === 'CERTIFICATE')
    return 'found a certificate rather than a key in the PEM for the private key';
  return `failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: ${typesOf(blocks)}`;
}

function parsePrivateKey(key: Buffer): KeyObject | undefined {
  for (const type of ['pkcs1', 'pkcs8', 'sec1'] as const) {
    try {
      return createPrivateKey({ key, format: 'der', type });
    } catch {
      // Another format: as upstream, the next one is tried.
    }
  }
  return undefined;
}
