import type { CertificateSigningRequest } from 'kubenest/types/certificates_v1';
import type { CertificateRequest } from '#sdk/internal';

export const signingRequests = {
  group: 'certificates.k8s.io',
  version: 'v1',
  resource: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  isClusterScoped: true,
} as const;

export const clientSigner = 'kubernetes.io/kube-apiserver-client';
export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
export const kubeletServingSigner = 'kubernetes.io/kubelet-serving';
export const legacySigner = 'kubernetes.io/legacy-unknown';

export function hasCondition({ status }: CertificateSigningRequest, type: string): boolean {
  return status?.conditions?.some((condition) => condition.type === type) ?? false;
}

const sameUsages = (usages: readonly string[], wanted: readonly string[]): boolean =>
  new Set(usages).size === wanted.length && wanted.every((usage) => usages.includes(usage));

/** Returns why the usages are not those of a kubelet's certificate; key encipherment may be missing. */
function kubeletUsageProblem(usages: readonly string[], auth: 'client auth' | 'server auth'): string | undefined {
  const [least, most] = [
    ['digital signature', auth],
    ['digital signature', 'key encipherment', auth],
  ] as const;
  const sorted = [...most].sort();
  return sameUsages(usages, least) || sameUsages(usages, most) ? undefined : `usages did not match [${sorted.join(' ')}]`;
}

const isOfNodes = ({ subject }: CertificateRequest): boolean =>
  subject.organizations.length === 1 && subject.organizations[0] === 'system:nodes';
const notOfNodes = 'subject organization is not system:nodes';
const notANode = 'subject common name does not begin with system:node:';

/** Returns why a request is not for a kubelet's client certificate. Upstream: pkg/apis/certificates.ValidateKubeletClientCSR. */
export function kubeletClientProblem(request: CertificateRequest, usages: readonly string[]): string | undefined {
  const { dns, emails, addresses, uris } = request.alternativeNames;
  if (!isOfNodes(request)) return notOfNodes;
  if (dns.length > 0) return 'DNS subjectAltNames are not allowed';
  if (emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (addresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (uris.length > 0) return 'URI subjectAltNames are not allowed';
  return request.subject.commonName.startsWith('system:node:') ? kubeletUsageProblem(usages, 'client auth') : notANode;
}

/** Returns why a request is not for a kubelet's serving certificate. Upstream: pkg/apis/certificates.ValidateKubeletServingCSR. */
export function kubeletServingProblem(request: CertificateRequest, usages: readonly string[]): string | undefined {
  const { dns, emails, addresses, uris } = request.alternativeNames;
  if (!isOfNodes(request)) return notOfNodes;
  if (dns.length + addresses.length === 0) return 'DNS or IP subjectAltName is required';
  if (emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (uris.length > 0) return 'URI subjectAltNames are not allowed';
  return kubeletUsageProblem(usages, 'server auth') ?? (request.subject.commonName.startsWith('system:node:') ? undefined : notANode);
}

/** Returns why the usages are not those of a client of the API server. Upstream: validAPIServerClientUsages. */
export function clientUsageProblem(usages: readonly string[]): string | undefined {
  const invalid = usages.find((usage) => !['digital signature', 'key encipherment', 'client auth'].includes(usage));
  if (invalid !== undefined) return `invalid usage for client certificate: ${invalid}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
}
