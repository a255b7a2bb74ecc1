import { readFileSync } from 'node:fs';
import {
  AdmissionPlugin,
  type Attributes,
  Configuration,
  changedPodTemplate,
  imagesOf,
  type Informer,
  Informers,
  inject,
  type PlacedImage,
  parseImage,
  workloads,
} from 'kubenest/sdk';
import { ArrayNotEmpty, ConfigurationError, IsArray, IsNotEmpty, IsString, Type, ValidateNested } from 'kubenest/sdk/configuration';
import { IsOptionalText, IsSomeTexts, IsTexts } from '../../common/configuration.ts';
import { denyFor } from '../../common/deny.ts';
import { type Matcher, matcherOf } from '../../common/patterns.ts';
import { storedSignatures } from './signature-store.ts';
import { parsePublicKey, parseTrustedRoot, SignatureVerifier } from './signature-verifier.ts';

export class SignerIdentity {
  /** Issuer of the signer's identity token: `https://token.actions.githubusercontent.com`. */
  @IsString()
  @IsNotEmpty()
  issuer = '';
  /** Mail address or URI in the certificate; `*` stands for any text. */
  @IsString()
  @IsNotEmpty()
  subject = '';
}
export class SignatureRule {
  /** Repositories in full, such as `ghcr.io/acme/*`. */
  @IsSomeTexts()
  images: string[] = [];
  /** Public keys in PEM. */
  @IsTexts()
  keys: string[] = [];
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => SignerIdentity)
  identities: SignerIdentity[] = [];
  /** Types of in-toto statements that count as signatures; default: those of `cosign sign`. */
  @IsSomeTexts()
  predicateTypes: string[] = ['https://sigstore.dev/cosign/sign/v1'];
}
export class VerifyImageSignaturesConfiguration {
  /** The first rule that fits an image applies; one valid signature by any of its keys and identities is enough. */
  @IsArray()
  @ArrayNotEmpty()
  @ValidateNested({ each: true })
  @Type(() => SignatureRule)
  rules: SignatureRule[] = [];
  /** File of the trusted root (`trusted_root.json`), for identities. */
  @IsOptionalText()
  trustedRoot?: string;
  /** Folder of signatures. */
  @IsOptionalText()
  folder?: string;
  /** Namespace of ConfigMaps with signatures. */
  @IsOptionalText()
  configMapNamespace?: string;
}

/** Number of verified digests of a rule that are kept. */
const kept = 1_000;

interface CompiledRule {
  readonly fits: Matcher;
  readonly verifier: SignatureVerifier;
  /** Digests with a valid signature, which need no second verification. */
  readonly verified: Set<string>;
}

/** Denies images without a digest, and images whose digest has no valid signature by a trusted key or identity. */
@AdmissionPlugin({ name: 'VerifyImageSignatures', configuration: VerifyImageSignaturesConfiguration, match: workloads })
export class VerifyImageSignatures {
  readonly #configMaps: Informer;
  readonly #rules: readonly CompiledRule[];

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Configuration) private readonly configuration: VerifyImageSignaturesConfiguration,
  ) {
    this.#configMaps = informers.for({ group: '', resource: 'configmaps' });
    const { trustedRoot, folder, configMapNamespace, rules } = configuration;
    if (folder === undefined && configMapNamespace === undefined)
      throw new ConfigurationError(['VerifyImageSignatures: folder or configMapNamespace is required']);
    const root = trustedRoot === undefined ? undefined : parsed('trustedRoot', () => parseTrustedRoot(readFileSync(trustedRoot, 'utf8')));
    this.#rules = rules.map(({ images, keys, identities, predicateTypes }, index) => {
      const place = `rules[${index}]`;
      if (keys.length + identities.length === 0) throw new ConfigurationError([`${place}: keys or identities are required`]);
      if (identities.length > 0 && !root) throw new ConfigurationError([`${place}.identities: trustedRoot is required`]);
      const signers = {
        keys: keys.map((key, at) => parsed(`${place}.keys[${at}]`, () => parsePublicKey(key))),
        identities,
        predicateTypes,
      };
      return { fits: matcherOf(images), verifier: new SignatureVerifier(signers, root), verified: new Set() };
    });
  }

  validate(request: Attributes): void | Promise<void> {
    const template = changedPodTemplate(request);
    if (!template) return undefined;
    const unknown = imagesOf(template).filter(({ image }) => !this.#isVerified(image));
    return unknown.length === 0 ? undefined : this.#verify(request, unknown);
  }

  async #verify(request: Attributes, images: readonly PlacedImage[]): Promise<void> {
    const problems: string[] = [];
    for (const { image, path } of images) {
      const problem = await this.#problemOf(image);
      if (problem !== undefined) problems.push(`${path}: ${problem}`);
    }
    denyFor(request, problems);
  }

  #isVerified(image: string): boolean {
    const reference = parseImage(image);
    const rule = reference && this.#rules.find(({ fits }) => fits(reference.name));
    return rule !== undefined && reference?.digest !== undefined && rule.verified.has(reference.digest);
  }

  async #problemOf(image: string): Promise<string | undefined> {
    const reference = parseImage(image);
    if (!reference) return `"${image}" is not an image reference`;
    const rule = this.#rules.find(({ fits }) => fits(reference.name));
    if (!rule) return undefined;
    const { digest } = reference;
    if (digest === undefined) return `"${image}" has no digest, so its signature cannot be verified`;
    const { folder, configMapNamespace } = this.configuration;
    const texts = await storedSignatures(digest, { folder, namespace: configMapNamespace }, this.#configMaps);
    const reasons: string[] = [];
    for (const text of texts) {
      const reason = rule.verifier.problemOf(text, digest);
      if (reason === undefined) return remember(rule, digest);
      reasons.push(reason);
    }
    return `${digest} has no valid signature (${reasons.length === 0 ? 'none is stored' : reasons.join(', ')})`;
  }
}

function remember({ verified }: CompiledRule, digest: string): undefined {
  if (verified.size >= kept) verified.clear();
  verified.add(digest);
}

function parsed<T>(place: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new ConfigurationError([`${place}: ${(error as Error).message}`], { cause: error });
  }
}
