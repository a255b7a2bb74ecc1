import { AdmissionPlugin, type Attributes, Authorizer, forbidden, inject, quote } from 'kubenest/sdk';
import { isAuthorizedForSignerName } from '#sdk/internal';
import type { CertificateSigningRequest } from './certificate-signing-request.ts';

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

  async validate(request: Attributes): Promise<void> {
    // Uses the stored object, whose signerName is immutable.
    const { signerName = '' } = (request.oldObject as CertificateSigningRequest).spec ?? {};
    if (await isAuthorizedForSignerName(this.authorizer, request.user, 'approve', signerName)) return;
    throw forbidden(request, `user not permitted to approve requests with signerName ${quote(signerName)}`);
  }
}
