import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { quote } from '#apimachinery/runtime/quote';
import { type FieldError, fieldPath, forbidden } from '#apimachinery/validation/field';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import { isAuthorizedForSignerName } from '#apiserver/authorization/signers';
import type { StoreHooks } from '#apiserver/registry/store';
import type { PodCertificateRequest } from '#kubernetes/schema/certificates_v1beta1.gen';

/**
 * Who changes the status of a PodCertificateRequest needs the right to `sign` for its signer; asked last, of a status that is
 * right. Upstream: pkg/registry/certificates/podcertificaterequest/strategy.go.
 */
export function podCertificateSigning(authorizer: Authorizer): StoreHooks {
  return {
    async review(object, old, { user }, found): Promise<readonly FieldError[]> {
      if (!old || found.length > 0 || semanticDeepEqual(object['status'], old['status'])) return found;
      const { signerName = '' } = (old as PodCertificateRequest).spec ?? {};
      if (await isAuthorizedForSignerName(authorizer, user, 'sign', signerName)) return found;
      const detail = `User ${quote(user.name)} is not permitted to "sign" for signer ${quote(signerName)}`;
      return [forbidden(fieldPath('spec', 'signerName'), detail)];
    },
  };
}
