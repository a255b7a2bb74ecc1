/** Who a client is at the moment. One object as long as that counts. */
export interface Credential {
  /** Shown as `Authorization: Bearer`; empty: none. */
  readonly token: string;
  /** Shown by connections. */
  readonly certificate: { readonly cert: string; readonly key: string } | undefined;
}

/** Where credentials come from that do not stay the same. */
export interface CredentialSource {
  /** Those that count now. Rejects where there are none. */
  get(): Promise<Credential>;
  /** The service did not take them. Resolves when others are there, or are to be had by the next `get`. */
  refused(credential: Credential): Promise<void>;
}
