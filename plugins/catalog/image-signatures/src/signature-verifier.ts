import { Buffer } from 'node:buffer';
import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { bundleFromJSON, type SerializedBundle, toMessageSignatureBundle } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { type SignedEntity, toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { type Matcher, matcherOf } from '../../common/patterns.ts';

/** A stored signature: a Sigstore bundle, or a line that `cosign download signature` prints. */
type StoredSignature = SerializedBundle | CosignSignature;

/** A signature of cosign's older format: `Payload` is a text in base64 that names the digest of the image. */
interface CosignSignature {
  readonly Base64Signature: string;
  readonly Payload: string;
}

/** An in-toto statement, of which cosign signs the subjects. */
interface Statement {
  readonly predicateType?: string;
  readonly subject?: readonly { readonly digest?: Readonly<Record<string, string>> }[];
}

/** Signers that are trusted: holders of a key, or identities with a certificate. */
export interface TrustedSigners {
  readonly keys: readonly KeyObject[];
  readonly identities: readonly { readonly issuer: string; readonly subject: string }[];
  /** Types of signed in-toto statements that count as signatures. */
  readonly predicateTypes: readonly string[];
}

const intoto = 'application/vnd.in-toto+json';
const cosignType = 'cosign container image signature';
const noRoot = TrustedRoot.fromJSON({ mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1' });

/** Parses the text of a trusted root, which has the authorities of keyless signatures. Throws for other texts. */
export function parseTrustedRoot(text: string): TrustedRoot {
  return TrustedRoot.fromJSON(JSON.parse(text));
}

/**
 * Verifies stored signatures of images with the library of Sigstore, without the network. Signatures by keys need no transparency log;
 * certificates need a log or a timestamp, and a certificate transparency log if the trusted root has one.
 */
export class SignatureVerifier {
  readonly #byKey: readonly Verifier[];
  readonly #byCertificate: Verifier | undefined;
  readonly #identities: readonly { readonly issuer: string; readonly isSubject: Matcher }[];
  readonly #predicateTypes: readonly string[];

  constructor({ keys, identities, predicateTypes }: TrustedSigners, root: TrustedRoot | undefined) {
    this.#byKey = keys.map((publicKey) => {
      const material = toTrustMaterial(noRoot, () => ({ publicKey, validFor: () => true }));
      return new Verifier(material, { ctlogThreshold: 0, tlogThreshold: 0, timestampThreshold: 0 });
    });
    if (root)
      this.#byCertificate = new Verifier(toTrustMaterial(root), {
        ctlogThreshold: Math.min(root.ctlogs.length, 1),
        tlogThreshold: Math.min(root.tlogs.length, 1),
        timestampThreshold: 1,
      });
    this.#identities = identities.map(({ issuer, subject }) => ({ issuer, isSubject: matcherOf([subject]) }));
    this.#predicateTypes = predicateTypes;
  }

  /** Returns undefined if the text is a valid signature of the digest by a trusted signer, else the reason why not. */
  problemOf(text: string, digest: string): string | undefined {
    try {
      const stored = JSON.parse(text) as StoredSignature;
      if ('Base64Signature' in stored) return this.#problemOfCosign(stored, digest);
      const bundle = bundleFromJSON(stored);
      if (bundle.content.$case !== 'dsseEnvelope') return 'the bundle has no in-toto statement';
      const { payloadType, payload } = bundle.content.dsseEnvelope;
      if (payloadType !== intoto) return `the payload has the type ${payloadType}`;
      const problem = this.#problemOfStatement(JSON.parse(payload.toString()) as Statement, digest);
      return problem ?? this.#problemOfSigner(toSignedEntity(bundle));
    } catch (error) {
      return (error as Error).message;
    }
  }

  #problemOfStatement({ predicateType = '', subject = [] }: Statement, image: string): string | undefined {
    const [algorithm = '', value = ''] = image.split(':');
    if (!this.#predicateTypes.includes(predicateType)) return `the statement has the type ${predicateType}`;
    return subject.some(({ digest }) => digest?.[algorithm] === value) ? undefined : 'the statement is about another digest';
  }

  #problemOfCosign({ Base64Signature, Payload }: CosignSignature, image: string): string | undefined {
    const payload = Buffer.from(Payload, 'base64');
    const { critical } = JSON.parse(payload.toString()) as {
      readonly critical?: { readonly type?: string; readonly image?: Readonly<Record<string, string>> };
    };
    if (critical?.type !== cosignType) return 'the payload is not a signature of an image';
    if (critical.image?.['docker-manifest-digest'] !== image) return 'the signature is about another digest';
    const digest = createHash('sha256').update(payload).digest();
    const bundle = toMessageSignatureBundle({ digest, signature: Buffer.from(Base64Signature, 'base64') });
    return this.#problemOfSigner(toSignedEntity(bundle, payload));
  }

  #problemOfSigner(entity: SignedEntity): string | undefined {
    if (entity.key.$case === 'public-key') {
      // The log of a signature by a key is not examined, since the key is trusted at all times.
      const bare = { ...entity, tlogEntries: [], timestamps: [] };
      return this.#byKey.some((verifier) => isValid(verifier, bare)) ? undefined : 'no trusted key has signed it';
    }
    if (!this.#byCertificate) return 'certificates need a trusted root';
    const { identity } = this.#byCertificate.verify(entity);
    const { subjectAlternativeName = '', extensions } = identity ?? {};
    const isTrusted = this.#identities.some(({ issuer, isSubject }) => extensions?.issuer === issuer && isSubject(subjectAlternativeName));
    return isTrusted ? undefined : `${subjectAlternativeName} of ${extensions?.issuer} is not trusted`;
  }
}

function isValid(verifier: Verifier, entity: SignedEntity): boolean {
  try {
    verifier.verify(entity);
    return true;
  } catch {
    return false;
  }
}

/** Parses a public key in PEM. Throws for other texts, and for private keys. */
export function parsePublicKey(pem: string): KeyObject {
  if (!pem.includes('-----BEGIN PUBLIC KEY-----')) throw new Error('expected a public key in PEM');
  return createPublicKey(pem);
}
