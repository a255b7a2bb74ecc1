import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { quote } from '#apimachinery/runtime/quote';
import { type FieldError, fieldPath, forbidden } from '#apimachinery/validation/field';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import { isAuthorizedForSignerName } from '#apiserver/authorization/signers';
import type { StoreHooks } from '#apiserver/registry/write';
import type { PodCertificateRequest } from '#kubernetes/schema/certificates_v1beta1.gen';

/**
 * Authorizes changes of the status of a PodCertificateRequest: they need the verb `sign` for its signer. Runs last, on valid statuses.
 * Upstream: pkg/registry/certificates/podcertificaterequest/strategy.go.
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
