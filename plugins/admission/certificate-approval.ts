import { AdmissionPlugin, type Attributes, Authorizer, forbidden, inject, quote } from 'kubenest/sdk';
import type { CertificateSigningRequest } from 'kubenest/kinds';
import { isAuthorizedForSignerName } from '#sdk/internal';

/**
 * Requires permission to `approve` for the signer of an approved certificate signing request. Upstream:
 * kubernetes/plugin/pkg/admission/certificates/approval/admission.go.
 */
@AdmissionPlugin({
  name: 'CertificateApproval',
  match: [
    { groups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], subresources: ['approval'], operations: ['UPDATE'] },
  ],
})
export class CertificateApproval {
  constructor(@inject(Authorizer) private readonly authorizer: Authorizer) {}

  async validate(request: Attributes<CertificateSigningRequest>): Promise<void> {
    // Uses the stored object, whose signerName is immutable.
    const { signerName = '' } = (request.oldObject as CertificateSigningRequest).spec ?? {};
    if (await isAuthorizedForSignerName(this.authorizer, request.user, 'approve', signerName)) return;
    throw forbidden(request, `user not permitted to approve requests with signerName ${quote(signerName)}`);
  }
}
