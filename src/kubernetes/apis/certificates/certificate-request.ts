import { Buffer } from 'node:buffer';
import { createPublicKey, verify } from 'node:crypto';
import { pemBlocks, pemBytes } from './pem.ts';

const truncated = 'asn1: syntax error: data truncated';
const structure = "asn1: structure error: tags don't match";
/** Signature algorithms by their object identifiers (DER, hex): the hash, undefined where the key's kind has its own. */
const algorithms: ReadonlyMap<string, { readonly hash: string | undefined; readonly failure: string }> = new Map([
  ['2a864886f70d01010b', { hash: 'sha256', failure: 'crypto/rsa: verification error' }],
  ['2a864886f70d01010c', { hash: 'sha384', failure: 'crypto/rsa: verification error' }],
  ['2a864886f70d01010d', { hash: 'sha512', failure: 'crypto/rsa: verification error' }],
  ['2a8648ce3d040302', { hash: 'sha256', failure: 'x509: ECDSA verification failure' }],
  ['2a8648ce3d040303', { hash: 'sha384', failure: 'x509: ECDSA verification failure' }],
  ['2a8648ce3d040304', { hash: 'sha512', failure: 'x509: ECDSA verification failure' }],
  ['2b6570', { hash: undefined, failure: 'x509: Ed25519 verification failure' }],
]);

/** One element of DER: its tag, all its bytes, and its content. */
interface Element {
  readonly tag: number;
  readonly whole: Buffer;
  readonly content: Buffer;
}

/** A PKCS#10 request that could be read. */
export interface CertificateRequest {
  /** The subject's public key (SubjectPublicKeyInfo) in DER. */
  readonly publicKey: Buffer;
  /** What is wrong with the signature; undefined if nothing is. Throws for a key that cannot be read. */
  signatureProblem(): string | undefined;
}

/** What is wrong with the signature or the form of a PKCS#10 request (PEM in base64); undefined if nothing is. Upstream: pkg/apis/certificates/helpers.go (ParseCSR). */
export function certificateRequestProblem(request: string): string | undefined {
  const block = pemBlocks(Buffer.from(request, 'base64').toString('latin1'))[0];
  if (block?.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST';
  try {
    return parseCertificateRequest(pemBytes(block)).signatureProblem();
  } catch (error) {
    return (error as Error).message;
  }
}

/** Throws an error that says what is wrong with the form. */
function parseCertificateRequest(der: Buffer): CertificateRequest {
  const request = wholeElement(der);
  const [info, algorithm, signature] = sequence(request);
  const publicKey = info && sequence(info)[2]?.whole;
  if (!publicKey || !algorithm || signature?.tag !== 0x03) throw new Error(structure);
  return {
    publicKey,
    signatureProblem() {
      const known = algorithms.get(sequence(algorithm)[0]?.content.toString('hex') ?? '');
      if (!known) return 'x509: cannot verify signature: algorithm unimplemented';
      const key = createPublicKey({ key: publicKey, format: 'der', type: 'spki' });
      // The first octet of a bit string counts its unused bits.
      return verify(known.hash, info.whole, key, signature.content.subarray(1)) ? undefined : known.failure;
    },
  };
}

/** Reads a request in DER; undefined for what is none. */
export function readCertificateRequest(der: Buffer): CertificateRequest | undefined {
  try {
    return parseCertificateRequest(der);
  } catch {
    return undefined;
  }
}

/** The object identifier (hex) of the algorithm of a public key in DER; throws for what is none, or more than that. */
export function publicKeyAlgorithm(der: Buffer): string {
  const [algorithm] = sequence(wholeElement(der));
  const identifier = algorithm && sequence(algorithm)[0];
  if (identifier?.tag !== 0x06) throw new Error(structure);
  return identifier.content.toString('hex');
}

function wholeElement(der: Buffer): Element {
  const element = elementAt(der, 0);
  if (element.whole.length !== der.length) throw new Error('asn1: syntax error: trailing data');
  return element;
}

function sequence(element: Element): Element[] {
  if (element.tag !== 0x30) throw new Error(structure);
  const elements: Element[] = [];
  for (let at = 0; at < element.content.length; at += (elements.at(-1) as Element).whole.length)
    elements.push(elementAt(element.content, at));
  return elements;
}

function elementAt(bytes: Buffer, at: number): Element {
  const tag = bytes[at];
  let length = bytes[at + 1];
  if (tag === undefined || length === undefined) throw new Error(truncated);
  let start = at + 2;
  if (length >= 0x80) {
    const count = length & 0x7f;
    if (count === 0 || count > 4 || start + count > bytes.length) throw new Error(truncated);
    length = bytes.readUIntBE(start, count);
    start += count;
  }
  if (start + length > bytes.length) throw new Error(truncated);
  return { tag, whole: bytes.subarray(at, start + length), content: bytes.subarray(start, start + length) };
}
