import type { TlsOptions } from '#apiserver/serving/secure-server';
import { ClientAuthorities } from '#plugins/authentication/client-authorities';
import type { AuthenticationConfig, ServerConfig } from '#cmd/server-config';

/** Authorities that may change while the server runs. */
export interface Authorities {
  /** Authorities of client certificates. */
  readonly client: ClientAuthorities | undefined;
  /** Authorities of front proxies. */
  readonly requestHeader: ClientAuthorities | undefined;
}

/**
 * Trusted authorities of client and front proxy certificates. Handshakes and authenticators share them. Files of this server and of the
 * server that it delegates to may change them.
 */
export class ClientTrust {
  readonly authorities: Authorities;
  #own: string | undefined;
  #authentication: AuthenticationConfig;

  constructor({ authentication }: Pick<ServerConfig, 'authentication'>) {
    this.#own = authentication.clientCa;
    this.#authentication = authentication;
    const clients = this.#clients();
    const { requestHeader } = authentication;
    this.authorities = {
      client: clients === undefined ? undefined : new ClientAuthorities(clients),
      requestHeader: requestHeader && new ClientAuthorities(requestHeader.clientCa),
    };
  }

  /** Applies the authorities in the server's own files. */
  readFiles({ clientCa }: TlsOptions): void {
    if (clientCa === undefined) return;
    this.#own = clientCa;
    this.#reload();
  }

  /**
   * Applies the authorities in the configuration. Throws if front proxies are added or removed or use other headers, which requires a
   * restart.
   */
  follow(next: AuthenticationConfig): void {
    if (headersOf(next) !== headersOf(this.#authentication))
      throw new Error('the request headers of front proxies have changed: restart the server to apply them');
    this.#authentication = next;
    this.#reload();
  }

  /** Returns handshake options that request client certificates of all these authorities. */
  asking<T extends TlsOptions>(tls: T): T {
    const bundles = [this.#clients(), this.#authentication.requestHeader?.clientCa].filter((bundle) => bundle !== undefined);
    return { ...tls, clientCa: bundles.length > 0 ? bundles.join('\n') : undefined };
  }

  #clients(): string | undefined {
    const bundles = [this.#own, this.#authentication.delegatedClientCa].filter((bundle) => bundle !== undefined);
    return bundles.length > 0 ? bundles.join('\n') : undefined;
  }

  #reload(): void {
    const clients = this.#clients();
    const { requestHeader } = this.#authentication;
    if (clients !== undefined) this.authorities.client?.reload(clients);
    if (requestHeader) this.authorities.requestHeader?.reload(requestHeader.clientCa);
  }
}

function headersOf({ requestHeader }: AuthenticationConfig): string {
  if (!requestHeader) return '';
  const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = requestHeader;
  return JSON.stringify([usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes]);
}
