import type { TlsOptions } from '#apiserver/serving/secure-server';
import { ClientAuthorities } from '#plugins/authentication/client-authorities';
import type { AuthenticationConfig, ServerConfig } from '#cmd/server-config';

/** Authorities that may change while the server runs. */
export interface Authorities {
  /** Of client certificates. */
  readonly client: ClientAuthorities | undefined;
  /** Of front proxies. */
  readonly requestHeader: ClientAuthorities | undefined;
}

/**
 * Whose certificates clients and front proxies show. What the handshake asks them for and what authenticators take is one
 * thing, which files of this server and the server that it delegates to may change.
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

  /** Trusts what the server's own files name now. */
  readFiles({ clientCa }: TlsOptions): void {
    if (clientCa === undefined) return;
    this.#own = clientCa;
    this.#reload();
  }

  /** Trusts what the configuration names now. Throws where front proxies come or go or say it in other headers: that needs a start. */
  follow(next: AuthenticationConfig): void {
    if (headersOf(next) !== headersOf(this.#authentication))
      throw new Error('the headers of front proxies have changed: this needs a restart');
    this.#authentication = next;
    this.#reload();
  }

  /** The options of a handshake that asks clients for certificates of all these authorities. */
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
