import type { Strategy } from '#apiserver/registry/resource-definition';
import { keepField } from '#kubernetes/apis/strategy';
import { validateCertificateSigningRequest, validateCertificateSigningRequestUpdate } from './validation.ts';
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '#kubernetes/schema/certificates_v1.gen';

/** Description that upstream takes from v1beta1. */
export const signerNameText = [
  'Requested signer for the request. It is a qualified name in the form: `scope-hostname.io/name`. If empty, it will be defaulted:',
  " 1. If it's a kubelet client certificate, it is assigned",
  '    "kubernetes.io/kube-apiserver-client-kubelet".',
  " 2. If it's a kubelet serving certificate, it is assigned",
  '    "kubernetes.io/kubelet-serving".',
  ' 3. Otherwise, it is assigned "kubernetes.io/legacy-unknown".',
  'Distribution of trust for signers happens out of band. You can select on this field using `spec.signerName`.',
].join('\n');

/** Formats `Pending`, `Approved`, `Denied`, followed by the outcome: `Approved,Issued`. */
export function conditionText({ status }: CertificateSigningRequest): string {
  const has = (type: string) => status?.conditions?.some((condition) => condition.type === type) ?? false;
  const texts = [has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'];
  if (has('Failed')) texts.push('Failed');
  if (status?.certificate) texts.push('Issued');
  return texts.join(',');
}

/**
 * Keeps the old approval conditions: a signer may not change them. If there are as many conditions of this type as before, the old ones
 * replace them.
 */
function preserveConditions(request: CertificateSigningRequest, old: CertificateSigningRequest, type: string): void {
  const conditions = request.status?.conditions ?? [];
  const before = (old.status?.conditions ?? []).filter((condition) => condition.type === type);
  const indices = [...conditions.keys()].filter((i) => conditions[i]?.type === type);
  if (indices.length !== before.length) return;
  for (const [n, i] of indices.entries()) conditions[i] = before[n]!;
}

function populateTimestamps(request: CertificateSigningRequest, old: CertificateSigningRequest, now: string): void {
  const keyOf = ({ type, status }: CertificateSigningRequestCondition): string => JSON.stringify([type, status]);
  const before = new Map<string, string>();
  // The first condition of a type and status wins.
  for (const condition of (old.status?.conditions ?? []).toReversed())
    if (condition.lastTransitionTime) before.set(keyOf(condition), condition.lastTransitionTime);
  for (const condition of request.status?.conditions ?? []) {
    condition.lastUpdateTime ??= now;
    condition.lastTransitionTime ??= before.get(keyOf(condition)) ?? now;
  }
}

/** Strategy that records the user of the HTTP request in the spec, regardless of the client's values. The spec is immutable. */
export const strategy: Strategy<CertificateSigningRequest> = {
  resetFields: [['spec'], ['status']],
  validateName: () => [],
  prepareForCreate(request, { user }) {
    const spec = (request.spec ??= {});
    delete spec.username;
    delete spec.uid;
    delete spec.groups;
    delete spec.extra;
    if (user.name) spec.username = user.name;
    if (user.uid) spec.uid = user.uid;
    if (user.groups.length > 0) spec.groups = [...user.groups];
    if (user.extra && Object.keys(user.extra).length > 0) {
      spec.extra = Object.fromEntries(Object.entries(user.extra).map(([key, values]) => [key, [...values]]));
    }
    request.status = {};
  },
  validate: validateCertificateSigningRequest,
  validateUpdate: (request, old) => validateCertificateSigningRequestUpdate(request, old),
  prepareForUpdate(request, old) {
    keepField(request, old, 'spec');
    keepField(request, old, 'status');
  },
};

export const statusStrategy: Strategy<CertificateSigningRequest> = {
  resetFields: [['spec'], ['status', 'conditions']],
  prepareForUpdate(request, old, { now }) {
    keepField(request, old, 'spec');
    preserveConditions(request, old, 'Approved');
    preserveConditions(request, old, 'Denied');
    populateTimestamps(request, old, now);
  },
  validateUpdate: (request, old) => validateCertificateSigningRequestUpdate(request, old, { certificate: true }),
};

export const approvalStrategy: Strategy<CertificateSigningRequest> = {
  resetFields: [['spec'], ['status', 'certificate']],
  prepareForUpdate(request, old, { now }) {
    populateTimestamps(request, old, now);
    const conditions = request.status?.conditions;
    keepField(request, old, 'spec');
    request.status = { ...old.status };
    if (conditions) request.status.conditions = conditions;
    else delete request.status.conditions;
  },
  validateUpdate: (request, old) => validateCertificateSigningRequestUpdate(request, old, { approval: true }),
};
