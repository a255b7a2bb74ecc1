import { AdmissionPlugin, type Attributes, forbidden, groupNames } from 'kubenest/sdk';
import { type CertificateSigningRequest, parseRequestedSubject, type RequestedSubject } from './certificate-request.ts';

const clientSigner = 'kubernetes.io/kube-apiserver-client';

/** Nobody gets a client certificate of the group that may do everything. Upstream: kubernetes/plugin/pkg/admission/certificates/subjectrestriction/admission.go. */
@AdmissionPlugin({
  name: 'CertificateSubjectRestriction',
  match: [{ groups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], operations: ['CREATE'] }],
})
export class CertificateSubjectRestriction {
  async validate(request: Attributes): Promise<void> {
    const { spec } = request.object as CertificateSigningRequest;
    if (spec?.signerName !== clientSigner) return;
    let subject: RequestedSubject;
    try {
      subject = await parseRequestedSubject(spec.request ?? '');
    } catch (error) {
      throw forbidden(request, `failed to parse CSR: ${(error as Error).message}`);
    }
    if (subject.organizations.includes(groupNames.privileged))
      throw forbidden(request, `use of ${clientSigner} signer with ${groupNames.privileged} group is not allowed`);
  }
}
