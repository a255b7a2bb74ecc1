import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { Dial } from 'kubenest/sdk';
import { httpsGet } from './https-get.ts';

const timeoutMs = 30_000;
/** So often at most keys are asked for anew, however many tokens name keys that are not known. */
const minRefreshMs = 10_000;

interface RemoteKey {
  readonly id: string | undefined;
  readonly key: KeyObject;
}

export interface RemoteKeysOptions {
  /** What the provider must call itself. */
  readonly issuer: string;
  /** Where its configuration is. */
  readonly discoveryUrl: string;
  /** PEM; undefined: the system's authorities. */
  readonly certificateAuthority: string | undefined;
  /** How the provider is reached; undefined: straight. */
  readonly dial?: Dial | undefined;
  readonly now?: () => number;
}

/**
 * The signing keys of an OpenID provider, found by its configuration and read again when a token names one that is not
 * among them. Upstream: github.com/coreos/go-oidc (oidc.go, jwks.go).
 */
export class RemoteKeys {
  #keys: readonly RemoteKey[] = [];
  #keySetUri: string | undefined;
  #loading: Promise<void> | undefined;
  #loadedAt = Number.NEGATIVE_INFINITY;
  #failure: Error | undefined;
  readonly #now: () => number;

  constructor(private readonly options: RemoteKeysOptions) {
    this.#now = options.now ?? (() => performance.now());
  }

  /** Those that a token's key id can mean: of that name, or all for a token that names none. Rejects where none could ever be read. */
  async find(keyId: string | undefined): Promise<readonly KeyObject[]> {
    let found = this.#matching(keyId);
    if (found.length === 0 && this.#now() - this.#loadedAt >= minRefreshMs) {
      await this.#load();
      found = this.#matching(keyId);
    }
    if (found.length === 0 && this.#loading) {
      await this.#loading;
      found = this.#matching(keyId);
    }
    if (this.#keys.length === 0 && this.#failure) throw new Error(`oidc: authenticator not initialized: ${this.#failure.message}`);
    return found;
  }

  #matching(keyId: string | undefined): readonly KeyObject[] {
    return this.#keys.filter(({ id }) => keyId === undefined || id === keyId).map(({ key }) => key);
  }

  #load(): Promise<void> {
    this.#loading ??= this.#read()
      .then(
        () => {
          this.#failure = undefined;
        },
        (error: unknown) => {
          this.#failure = error as Error;
        },
      )
      .finally(() => {
        this.#loading = undefined;
        this.#loadedAt = this.#now();
      });
    return this.#loading;
  }

  async #read(): Promise<void> {
    this.#keySetUri ??= await this.#discover();
    const { keys } = await this.#get(this.#keySetUri);
    if (!Array.isArray(keys)) throw new Error('the key set has no keys');
    this.#keys = (keys as (JsonWebKey & { readonly kid?: string; readonly use?: string })[]).flatMap((jwk) => {
      if (jwk.use !== undefined && jwk.use !== 'sig') return [];
      try {
        return { id: jwk.kid, key: createPublicKey({ key: jwk, format: 'jwk' }) };
      } catch {
        // A key of a kind that is not known here may be meant for others.
        return [];
      }
    });
  }

  async #discover(): Promise<string> {
    const { issuer, jwks_uri: uri } = await this.#get(this.options.discoveryUrl);
    if (issuer !== this.options.issuer)
      throw new Error(
        `oidc: issuer did not match the issuer returned by provider, expected ${JSON.stringify(this.options.issuer)} got ${JSON.stringify(issuer)}`,
      );
    if (typeof uri !== 'string' || !URL.canParse(uri) || new URL(uri).protocol !== 'https:')
      throw new Error(`oidc: jwks_uri ${JSON.stringify(uri)} must be an https URL`);
    return uri;
  }

  async #get(url: string): Promise<Readonly<Record<string, unknown>>> {
    const { certificateAuthority, dial } = this.options;
    return JSON.parse(await httpsGet(url, { certificateAuthority, dial, timeoutMs })) as Readonly<Record<string, unknown>>;
  }
}
