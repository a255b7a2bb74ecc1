import { AdmissionPlugin, type Attributes, Authorizer, FeatureGates, forbidden, inject, type KubeObject, quote } from 'kubenest/sdk';
import type { ClusterTrustBundle } from 'kubenest/types/certificates_v1beta1';
import { isAuthorizedForSignerName, semanticDeepEqual } from '#sdk/internal';

/**
 * Requires permission to `attest` for the signer of a ClusterTrustBundle. Upstream:
 * kubernetes/plugin/pkg/admission/certificates/ctbattest/admission.go.
 */
@AdmissionPlugin({
  name: 'ClusterTrustBundleAttest',
  match: [{ groups: ['certificates.k8s.io'], resources: ['clustertrustbundles'], subresources: ['*'], operations: ['CREATE', 'UPDATE'] }],
})
export class ClusterTrustBundleAttest {
  readonly #enabled: boolean;

  constructor(
    @inject(Authorizer) private readonly authorizer: Authorizer,
    @inject(FeatureGates) features: FeatureGates,
  ) {
    this.#enabled = features.enabled('ClusterTrustBundle');
  }

  async validate(request: Attributes<ClusterTrustBundle>): Promise<void> {
    const { signerName = '' } = request.object.spec ?? {};
    if (!this.#enabled || signerName === '') return;
    if (request.oldObject && changesOnlyHousekeeping(request.object, request.oldObject)) return;
    if (await isAuthorizedForSignerName(this.authorizer, request.user, 'attest', signerName)) return;
    throw forbidden(request, `user not permitted to attest for signerName ${quote(signerName)}`);
  }
}

/**
 * True if an update changes only fields used by garbage collection and storage migration. Upstream:
 * kubernetes/pkg/registry/rbac (IsOnlyMutatingGCFields).
 */
function changesOnlyHousekeeping(object: KubeObject, old: KubeObject): boolean {
  const { ownerReferences, finalizers, selfLink, managedFields } = old.metadata;
  return semanticDeepEqual({ ...object, metadata: { ...object.metadata, ownerReferences, finalizers, selfLink, managedFields } }, old);
}
