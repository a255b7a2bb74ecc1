/** Facts about the cluster that controllers publish to its workloads. */
export interface ClusterCredentials {
  /** Certificate of the authority that signed the server's certificate, PEM; empty if the server does not know it. */
  readonly rootCertificateAuthority: string;
  /** Signs the token of a Secret, which does not expire. Undefined if the server signs no tokens. */
  readonly signSecretToken?: ((token: SecretToken) => Promise<string>) | undefined;
}

/** Subject of a token that is stored in a Secret. Upstream: kubernetes/pkg/serviceaccount/legacy.go. */
export interface SecretToken {
  readonly namespace: string;
  readonly secretName: string;
  readonly serviceAccountName: string;
  readonly serviceAccountUid: string;
}

export const ClusterCredentials = Symbol.for('kubenest.ClusterCredentials');
