import { isValidPathSegmentName } from '#apimachinery/validation/names';
import { defineResource } from '#apiserver/registry/resource-definition';
import { nameColumn } from '#apiserver/registry/table-columns';
import { validateClusterTrustBundle, validateClusterTrustBundleUpdate } from '#kubernetes/apis/certificates/trust-bundle-validation';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import type { ClusterTrustBundle } from '#kubernetes/schema/certificates_v1beta1.gen';

export default defineResource<ClusterTrustBundle>({
  group: 'certificates.k8s.io',
  version: 'v1beta1',
  kind: 'ClusterTrustBundle',
  resource: 'clustertrustbundles',
  namespaced: false,
  featureGate: 'ClusterTrustBundle',
  storageVersionHash: 'v5yhuVertL4=',
  schema: 'certificates_v1beta1.ClusterTrustBundle',
  storagePath: 'clustertrustbundles',
  strategy: {
    allowUnconditionalUpdate: false,
    // The valid names depend on the signer: `validate` sees both.
    validateName: isValidPathSegmentName,
    validate: validateClusterTrustBundle,
    validateUpdate: validateClusterTrustBundleUpdate,
  },
  selectableFields: { 'spec.signerName': ({ spec }) => spec?.signerName ?? '' },
  unsupportedField: (label) => `field label not supported: ${label}`,
  columns: [
    nameColumn,
    stringColumn(
      'SignerName',
      describe('certificates_v1beta1.ClusterTrustBundleSpec', 'signerName'),
      ({ spec }) => spec?.signerName || '<none>',
    ),
  ],
});
