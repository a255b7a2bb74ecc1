import type { Credentials, TokenAuthenticator, UserInfo } from 'kubenest/sdk';
import type { TokenCacheMetrics } from '#sdk/internal';
import { hashToken } from './token-auth.ts';

type TokenRequest = Pick<Credentials, 'audiences' | 'warn' | 'annotate'>;

const maxEntries = 4096;

interface Entry {
  readonly user: UserInfo | undefined;
  readonly until: number;
  readonly annotations: readonly (readonly [string, string])[];
  readonly warnings: readonly string[];
}

export interface TokenCacheOptions {
  readonly successMs: number;
  readonly failureMs: number;
  readonly now?: () => number;
  readonly metrics?: TokenCacheMetrics | undefined;
}

/**
 * Caches the results of a token authenticator by the token's hash and the requested audiences; the oldest are evicted.
 * Errors are not cached. Warnings and audit annotations are cached and repeated; concurrent requests share one call.
 * Upstream: apiserver/pkg/authentication/token/cache/cached_token_authenticator.go.
 */
export class TokenCache implements TokenAuthenticator {
  readonly name: string;
  readonly #entries = new Map<string, Entry>();
  readonly #waiting = new Map<string, Promise<Entry>>();
  readonly #now: () => number;

  constructor(
    readonly tokens: TokenAuthenticator,
    readonly options: TokenCacheOptions,
  ) {
    this.name = tokens.name;
    this.#now = options.now ?? (() => performance.now());
  }

  authenticateToken(token: string, request: TokenRequest): UserInfo | undefined | Promise<UserInfo | undefined> {
    const key = request.audiences ? `${hashToken(token)} ${JSON.stringify(request.audiences)}` : hashToken(token);
    const { metrics } = this.options;
    const began = performance.now();
    const entry = this.#entries.get(key);
    if (entry && entry.until > this.#now()) {
      metrics?.asked('hit', performance.now() - began);
      return replay(entry, request);
    }
    const found = this.#waiting.get(key) ?? this.#fetch(key, token, request);
    if (!(found instanceof Promise)) {
      metrics?.asked('miss', performance.now() - began);
      return replay(found, request);
    }
    metrics?.fetching('blocked', 1);
    return found
      .then((kept) => replay(kept, request))
      .finally(() => {
        metrics?.fetching('blocked', -1);
        metrics?.asked('miss', performance.now() - began);
      });
  }

  /** Calls the authenticator and caches the result; concurrent requests share the promise. */
  #fetch(key: string, token: string, { audiences }: TokenRequest): Entry | Promise<Entry> {
    const { metrics } = this.options;
    const annotations: [string, string][] = [];
    const warnings: string[] = [];
    const fetched = (status: 'ok' | 'error'): void => {
      metrics?.fetching('in_flight', -1);
      metrics?.fetched(status);
    };
    const keep = (user: UserInfo | undefined): Entry => {
      fetched('ok');
      return this.#keep(key, { user, annotations, warnings });
    };
    const fail = (error: unknown): never => {
      fetched('error');
      throw error;
    };
    metrics?.fetching('in_flight', 1);
    let answer: UserInfo | undefined | Promise<UserInfo | undefined>;
    try {
      answer = this.tokens.authenticateToken(token, {
        ...(audiences && { audiences }),
        warn: (text) => void warnings.push(text),
        annotate: (name, value) => void annotations.push([name, value]),
      });
    } catch (error) {
      return fail(error);
    }
    if (!(answer instanceof Promise)) return keep(answer);
    const kept = answer.then(keep, fail).finally(() => this.#waiting.delete(key));
    this.#waiting.set(key, kept);
    return kept;
  }

  #keep(key: string, found: Omit<Entry, 'until'>): Entry {
    const lifetime = found.user ? this.options.successMs : this.options.failureMs;
    const entry = { ...found, until: this.#now() + lifetime };
    if (lifetime <= 0) return entry;
    this.#entries.delete(key);
    if (this.#entries.size >= maxEntries) this.#entries.delete(this.#entries.keys().next().value as string);
    this.#entries.set(key, entry);
    return entry;
  }
}

function replay({ user, annotations, warnings }: Entry, request: TokenRequest): UserInfo | undefined {
  for (const text of warnings) request.warn?.(text);
  for (const [name, value] of annotations) request.annotate?.(name, value);
  return user;
}
