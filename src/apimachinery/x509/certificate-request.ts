import { Buffer } from 'node:buffer';
import { contextTag, DerError, DerReader, rightAligned, tags } from './der-reader.ts';
import { type DistinguishedName, parseName } from './distinguished-name.ts';
import { readExtensionList } from './extensions.ts';
import { type AlternativeNames, parseAlternativeNames } from './general-names.ts';
import { pemBlocks } from './pem.ts';
import { parseAlgorithm, parsePublicKeyInfo, type PublicKeyInfo } from './public-key.ts';
import { type SignatureAlgorithm, signatureAlgorithmOf, signatureProblem } from './signature.ts';

const structure = "asn1: structure error: tags don't match";
const trailing = 'asn1: syntax error: trailing data';
const extensionRequest = '1.2.840.113549.1.9.14';
const subjectAltName = '2.5.29.17';
const noNames: AlternativeNames = { dns: [], emails: [], addresses: [], uris: [] };

/** A parsed PKCS#10 request (RFC 2986): validation and admission use the same fields. */
export interface CertificateRequest {
  readonly subject: DistinguishedName;
  readonly publicKey: PublicKeyInfo;
  readonly alternativeNames: AlternativeNames;
  /** The signed bytes. */
  readonly signed: Buffer;
  readonly signature: Buffer;
  readonly algorithm: SignatureAlgorithm | undefined;
}

/** Parses a request in DER. Throws a DerError if it is malformed. Upstream: crypto/x509/x509.go (ParseCertificateRequest). */
export function parseCertificateRequest(der: Buffer): CertificateRequest {
  const outer = new DerReader(der);
  const fields = outer.inside(tags.sequence, der.length === 0 ? 'asn1: syntax error: sequence truncated' : structure);
  outer.end(trailing);
  const signed = fields.element(structure, tags.sequence);
  const algorithm = parseAlgorithm(fields.inside(tags.sequence, structure));
  const signature = rightAligned(fields.bitString(structure));
  const info = new DerReader(signed.content);
  info.integer(structure);
  const subject = parseName(info.element(structure, tags.sequence), { allowsOtherValues: true });
  const publicKey = parsePublicKeyInfo(info.element(structure, tags.sequence));
  const attributes = info.insideOptional(contextTag(0, 'constructed'), structure);
  return {
    subject,
    publicKey,
    alternativeNames: attributes ? requestedNames(attributes) : noNames,
    signed: signed.whole,
    signature,
    algorithm: signatureAlgorithmOf(algorithm),
  };
}

/** Parses the request of an API object: PEM, in base64. Upstream: pkg/apis/certificates/helpers.go (ParseCSR). */
export function parsePemCertificateRequest(base64: string): CertificateRequest {
  const [block] = pemBlocks(Buffer.from(base64, 'base64').toString('latin1'));
  if (block?.type !== 'CERTIFICATE REQUEST') throw new DerError('PEM block type must be CERTIFICATE REQUEST');
  return parseCertificateRequest(block.bytes);
}

/** Returns the error of the requester's signature; undefined if it is valid. */
export function requestSignatureProblem(request: CertificateRequest): string | undefined {
  return signatureProblem(request, request.publicKey, { allowsSha1: true });
}

/** Returns the alternative names in the requested extensions. Other attributes, and malformed ones, are left out. */
function requestedNames(attributes: DerReader): AlternativeNames {
  const extensions = attributes.rest(structure).flatMap(({ content }) => {
    const list = extensionsIn(new DerReader(content));
    return list ? readExtensionList(list) : [];
  });
  const names = extensions.filter(({ id }) => id === subjectAltName);
  if (names.length > 1) throw new DerError('x509: certificate request contains duplicate requested extensions');
  return names[0] ? parseAlternativeNames(names[0].value) : noNames;
}

function extensionsIn(attribute: DerReader): DerReader | undefined {
  let isRequest = false;
  try {
    isRequest = attribute.objectIdentifier(structure) === extensionRequest;
  } catch {
    return undefined;
  }
  if (!isRequest) return undefined;
  const values = attribute.insideOptional(tags.set, structure);
  return values?.isEmpty === false ? values.inside(tags.sequence, structure) : undefined;
}
