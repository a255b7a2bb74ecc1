import { readText } from '#apiserver/base/system-error';
import { quote } from '#apimachinery/runtime/quote';
import type { Credential, CredentialSource } from './credential-source.ts';

/**
 * Time for which a token is used without rereading the file. Upstream: client-go/transport/token_source.go (a minute, of which the
 * last ten seconds do not count).
 */
const freshMs = 50_000;

/**
 * The token of a file, reread periodically because service account tokens are rotated. While the file is unreadable, the
 * last token stays in use. Upstream: client-go/transport/token_source.go.
 */
export class TokenFile implements CredentialSource {
  #credential: Credential | undefined;
  #readAt = -Infinity;

  /** `certificate` is presented in addition to the token. */
  constructor(
    private readonly path: string,
    private readonly certificate: Credential['certificate'],
    private readonly now: () => number = () => performance.now(),
  ) {}

  async get(): Promise<Credential> {
    const now = this.now();
    if (this.#credential && now - this.#readAt < freshMs) return this.#credential;
    try {
      const token = await readToken(this.path);
      this.#readAt = now;
      if (token !== this.#credential?.token) this.#credential = { token, certificate: this.certificate };
    } catch (error) {
      if (!this.#credential) throw error;
    }
    return this.#credential as Credential;
  }

  async refused(credential: Credential): Promise<void> {
    if (credential === this.#credential) this.#readAt = -Infinity;
  }
}

/** Reads a token file. Rejects if it is empty. */
export async function readToken(path: string): Promise<string> {
  const token = (await readText(path)).trim();
  if (token === '') throw new Error(`read empty token from file ${quote(path)}`);
  return token;
}
