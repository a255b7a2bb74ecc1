import { defineResource } from '#apiserver/registry/resource-definition';
import { nameColumn } from '#apiserver/registry/table-columns';
import {
  validatePodCertificateRequest,
  validatePodCertificateRequestStatusUpdate,
  validatePodCertificateRequestUpdate,
} from '#kubernetes/apis/certificates/pod-certificate-request-validation';
import { describe, formatLabels, stringColumn } from '#kubernetes/apis/columns';
import { statusSubresource, withoutStatus } from '#kubernetes/apis/strategy';
import type { PodCertificateRequest, PodCertificateRequestSpec } from '#kubernetes/schema/certificates_v1beta1.gen';

const specColumn = (name: string, field: keyof PodCertificateRequestSpec & `${string}Name`) =>
  stringColumn<PodCertificateRequest>(
    name,
    describe('certificates_v1beta1.PodCertificateRequestSpec', field),
    ({ spec }) => spec?.[field] ?? '',
  );

export default defineResource<PodCertificateRequest>({
  group: 'certificates.k8s.io',
  version: 'v1beta1',
  kind: 'PodCertificateRequest',
  resource: 'podcertificaterequests',
  featureGate: 'PodCertificateRequest',
  storageVersionHash: 'wYA9yXQH8fg=',
  schema: 'certificates_v1beta1.PodCertificateRequest',
  storagePath: 'podcertificaterequests',
  defaults(request) {
    (request.spec ??= {}).maxExpirationSeconds ??= 24 * 60 * 60;
  },
  strategy: {
    ...withoutStatus({ validate: validatePodCertificateRequest, validateUpdate: validatePodCertificateRequestUpdate }),
    allowUnconditionalUpdate: false,
    resetFields: [],
  },
  indexedFields: ['spec.nodeName'],
  selectableFields: {
    'spec.signerName': ({ spec }) => spec?.signerName ?? '',
    'spec.podName': ({ spec }) => spec?.podName ?? '',
    'spec.nodeName': ({ spec }) => spec?.nodeName ?? '',
  },
  unsupportedField: (label) => `field label not supported: ${label}`,
  columns: [
    nameColumn,
    specColumn('PodName', 'podName'),
    specColumn('ServiceAccountName', 'serviceAccountName'),
    specColumn('NodeName', 'nodeName'),
    specColumn('SignerName', 'signerName'),
    stringColumn(
      'State',
      'Is the request Pending, Issued, Denied, or Failed?',
      ({ status }) => status?.conditions?.findLast(({ type = '' }) => ['Issued', 'Denied', 'Failed'].includes(type))?.type ?? 'Pending',
    ),
    stringColumn(
      'UnverifiedUserAnnotations',
      describe('certificates_v1beta1.PodCertificateRequestSpec', 'unverifiedUserAnnotations'),
      ({ spec }) => formatLabels(spec?.unverifiedUserAnnotations),
    ),
  ],
  subresources: {
    status: statusSubresource({
      metadata: 'keep',
      strategy: {
        resetFields: [['spec']],
        validateUpdate: (request, old, { now }) => validatePodCertificateRequestStatusUpdate(request, old, now),
      },
    }),
  },
});
