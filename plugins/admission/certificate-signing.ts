import { AdmissionPlugin, type Attributes, Authorizer, forbidden, inject, quote } from 'kubenest/sdk';
import type { CertificateSigningRequest } from 'kubenest/kinds';
import { isAuthorizedForSignerName, semanticDeepEqual } from '#sdk/internal';

/**
 * Requires permission to `sign` for the signer of an issued certificate. Upstream:
 * kubernetes/plugin/pkg/admission/certificates/signing/admission.go.
 */
@AdmissionPlugin({
  name: 'CertificateSigning',
  match: [{ groups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], subresources: ['status'], operations: ['UPDATE'] }],
})
export class CertificateSigning {
  constructor(@inject(Authorizer) private readonly authorizer: Authorizer) {}

  async validate(request: Attributes<CertificateSigningRequest>): Promise<void> {
    const { status } = request.object;
    const old = request.oldObject as CertificateSigningRequest;
    if (status?.certificate === old.status?.certificate && semanticDeepEqual(status?.conditions, old.status?.conditions)) return;
    const { signerName = '' } = old.spec ?? {};
    if (await isAuthorizedForSignerName(this.authorizer, request.user, 'sign', signerName)) return;
    throw forbidden(request, `user not permitted to sign requests with signerName ${quote(signerName)}`);
  }
}
