import { AdmissionPlugin, type Attributes, forbidden, groupNames } from 'kubenest/sdk';
import type { CertificateSigningRequest } from 'kubenest/kinds';
import { type CertificateRequest, parsePemCertificateRequest } from '#sdk/internal';

const clientSigner = 'kubernetes.io/kube-apiserver-client';

/**
 * Denies client certificates of the group system:masters. Upstream:
 * kubernetes/plugin/pkg/admission/certificates/subjectrestriction/admission.go.
 */
@AdmissionPlugin({
  name: 'CertificateSubjectRestriction',
  match: [{ groups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], operations: ['CREATE'] }],
})
export class CertificateSubjectRestriction {
  validate(request: Attributes<CertificateSigningRequest>): void {
    const { spec } = request.object;
    if (spec?.signerName !== clientSigner) return;
    let requested: CertificateRequest;
    try {
      requested = parsePemCertificateRequest(spec.request ?? '');
    } catch (error) {
      throw forbidden(request, `failed to parse CSR: ${(error as Error).message}`);
    }
    if (requested.subject.organizations.includes(groupNames.privileged))
      throw forbidden(request, `use of ${clientSigner} signer with ${groupNames.privileged} group is not allowed`);
  }
}
