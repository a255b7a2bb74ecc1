/** Facts about the cluster that controllers publish to its workloads. */
export interface ClusterCredentials {
  /** Certificate of the authority that signed the server's certificate, PEM; empty if the server does not know it. */
  readonly rootCertificateAuthority: string;
  /** Signs the token of a Secret, which does not expire. Undefined if the server signs no tokens. */
  readonly signSecretToken?: ((token: SecretToken) => Promise<string>) | undefined;
  /**
   * Signs a request with the server's own authority and returns the certificate in PEM. Undefined if the server has no authority of its
   * own.
   */
  readonly signCertificateRequest?: ((request: CertificateToSign) => Promise<string>) | undefined;
}

/** A request for a certificate, with what its signer decides. */
export interface CertificateToSign {
  /** PKCS#10 request: PEM, in base64. */
  readonly request: string;
  /** Usages, in the words of certificates.k8s.io/v1. */
  readonly usages: readonly string[];
  readonly notBefore: Date;
  /** End of the validity, or that of the authority's if it is earlier. */
  readonly notAfter: Date;
}

/** Subject of a token that is stored in a Secret. Upstream: kubernetes/pkg/serviceaccount/legacy.go. */
export interface SecretToken {
  readonly namespace: string;
  readonly secretName: string;
  readonly serviceAccountName: string;
  readonly serviceAccountUid: string;
}

export const ClusterCredentials = Symbol.for('kubenest.ClusterCredentials');
