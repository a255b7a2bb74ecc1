import { humanDuration } from '#apimachinery/runtime/duration';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import {
  approvalStrategy,
  conditionText,
  signerNameText,
  statusStrategy,
  strategy,
} from '#kubernetes/apis/certificates/certificatesigningrequest';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import type { CertificateSigningRequest } from '#kubernetes/schema/certificates_v1.gen';

export default defineResource<CertificateSigningRequest>({
  group: 'certificates.k8s.io',
  version: 'v1',
  kind: 'CertificateSigningRequest',
  resource: 'certificatesigningrequests',
  namespaced: false,
  shortNames: ['csr'],
  storageVersionHash: '95fRKMXA+00=',
  schema: 'certificates_v1.CertificateSigningRequest',
  storagePath: 'certificatesigningrequests',
  strategy,
  selectableFields: { 'spec.signerName': ({ spec }) => spec?.signerName ?? '' },
  unsupportedField: (label) => `field label not supported: ${label}`,
  columns: [
    nameColumn,
    ageColumn,
    stringColumn('SignerName', signerNameText, ({ spec }) => spec?.signerName || '<none>'),
    stringColumn('Requestor', 'Base64-encoded PKCS#10 CSR data', ({ spec }) => spec?.username ?? ''),
    stringColumn('RequestedDuration', describe('certificates_v1.CertificateSigningRequestSpec', 'expirationSeconds'), ({ spec }) =>
      spec?.expirationSeconds === undefined ? '<none>' : humanDuration(spec.expirationSeconds * 1000),
    ),
    stringColumn('Condition', 'Conditions applied to the request, such as approval or denial.', conditionText),
  ],
  subresources: {
    approval: { verbs: ['get', 'patch', 'update'], strategy: approvalStrategy },
    status: { verbs: ['get', 'patch', 'update'], strategy: statusStrategy },
  },
});
