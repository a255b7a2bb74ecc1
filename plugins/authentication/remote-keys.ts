import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { Dial } from '#sdk/internal';
import { httpsGet } from './https-get.ts';

const timeoutMs = 30_000;
/** Minimum interval of key refreshes, however many tokens have unknown keys. */
const minRefreshMs = 10_000;

interface RemoteKey {
  readonly id: string | undefined;
  readonly key: KeyObject;
}

export interface RemoteKeysOptions {
  /** Expected issuer in the discovery document. */
  readonly issuer: string;
  /** URL of the discovery document. */
  readonly discoveryUrl: string;
  /** PEM authorities; undefined: the system's authorities. */
  readonly certificateAuthority: string | undefined;
  /** Dialer of the provider; undefined: direct connections. */
  readonly dial?: Dial | undefined;
  readonly now?: () => number;
  /** Called with the text of the key set when it was fetched; undefined: it could not be. */
  readonly onKeySet?: ((text: string | undefined) => void) | undefined;
}

/**
 * Signing keys of an OpenID provider, located by discovery and fetched again when a token has an unknown key id. Upstream:
 * github.com/coreos/go-oidc (oidc.go, jwks.go).
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

  /** Returns the keys with the token's key id, or all keys if it has none. Rejects if no keys have been fetched yet. */
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
    const { keys } = JSON.parse(await this.#keySet(this.#keySetUri)) as Readonly<Record<string, unknown>>;
    if (!Array.isArray(keys)) throw new Error('the key set has no keys');
    this.#keys = (keys as (JsonWebKey & { readonly kid?: string; readonly use?: string })[]).flatMap((jwk) => {
      if (jwk.use !== undefined && jwk.use !== 'sig') return [];
      try {
        return { id: jwk.kid, key: createPublicKey({ key: jwk, format: 'jwk' }) };
      } catch {
        // Ignores keys of unsupported types.
        return [];
      }
    });
  }

  async #keySet(uri: string): Promise<string> {
    let text: string | undefined;
    try {
      text = await this.#text(uri);
      return text;
    } finally {
      this.options.onKeySet?.(text);
    }
  }

  async #discover(): Promise<string> {
    const document = JSON.parse(await this.#text(this.options.discoveryUrl)) as Readonly<Record<string, unknown>>;
    const { issuer, jwks_uri: uri } = document;
    if (issuer !== this.options.issuer)
      throw new Error(
        `oidc: issuer did not match the issuer returned by provider, expected ${JSON.stringify(this.options.issuer)} got ${JSON.stringify(issuer)}`,
      );
    if (typeof uri !== 'string' || !URL.canParse(uri) || new URL(uri).protocol !== 'https:')
      throw new Error(`oidc: jwks_uri ${JSON.stringify(uri)} must be an https URL`);
    return uri;
  }

  #text(url: string): Promise<string> {
    const { certificateAuthority, dial } = this.options;
    return httpsGet(url, { certificateAuthority, dial, timeoutMs });
  }
}
