import type { KubeObject } from 'kubenest/sdk';

export interface CertificateSigningRequest extends KubeObject {
  readonly spec?: { readonly signerName?: string; readonly request?: string };
  readonly status?: { readonly certificate?: string; readonly conditions?: readonly object[] };
}
