import type { KubeObject } from 'kubenest/sdk';

export interface CertificateSigningRequest extends KubeObject {
  readonly spec?: { readonly signerName?: string; readonly request?: string };
  readonly status?: { readonly certificate?: string; readonly conditions?: readonly object[] };
}

export interface RequestedSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** Whom a certificate is asked for. `request` is base64 of PEM. Rejects for what is no certificate request. Upstream: kubernetes/pkg/apis/certificates (ParseCSR). */
export async function parseRequestedSubject(request: string): Promise<RequestedSubject> {
  const pem = Buffer.from(request, 'base64').toString('latin1');
  const body = /-----BEGIN CERTIFICATE REQUEST-----([\s\S]+?)-----END CERTIFICATE REQUEST-----/.exec(pem)?.[1];
  if (body === undefined) throw new Error('PEM block type must be CERTIFICATE REQUEST');
  const { Pkcs10CertificateRequest } = await import('@peculiar/x509');
  const { subjectName } = new Pkcs10CertificateRequest(Buffer.from(body, 'base64'));
  return { commonName: subjectName.getField('CN').at(-1) ?? '', organizations: subjectName.getField('O') };
}
