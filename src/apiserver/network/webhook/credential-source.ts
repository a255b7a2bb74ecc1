/** Credentials of a client. The object's identity stays the same while they are valid. */
export interface Credential {
  /** Bearer token; empty: none. */
  readonly token: string;
  /** Client certificate for connections. */
  readonly certificate: { readonly cert: string; readonly key: string } | undefined;
}

/** A source of credentials that change over time. */
export interface CredentialSource {
  /** Returns the current credentials. Rejects if there are none. */
  get(): Promise<Credential>;
  /**
   * Reports that the service rejected the credentials. Resolves when others are available or can be fetched by the next
   * `get`.
   */
  refused(credential: Credential): Promise<void>;
}
