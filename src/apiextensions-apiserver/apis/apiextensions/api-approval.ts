import { quote } from '#apimachinery/runtime/quote';
import type { CustomResourceDefinitionCondition } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';

export const approvedAnnotation = 'api-approved.kubernetes.io';
const policy = 'see https://github.com/kubernetes/enhancements/pull/1111';

/** True for groups of the Kubernetes community, whose APIs need an approval. */
export function isProtectedCommunityGroup(group: string): boolean {
  return ['k8s.io', 'kubernetes.io'].some((protectedGroup) => group === protectedGroup || group.endsWith(`.${protectedGroup}`));
}

export interface ApprovalState {
  readonly state: 'invalid' | 'approved' | 'bypassed' | 'missing';
  readonly reason: string;
}

/** Parses the approval annotation. Upstream: apiextensions-apiserver/pkg/apihelpers/helpers.go (GetAPIApprovalState). */
export function approvalState(annotations: Readonly<Record<string, string>> | undefined): ApprovalState {
  const annotation = annotations?.[approvedAnnotation] ?? '';
  if (annotation === '')
    return { state: 'missing', reason: `protected groups must have approval annotation ${quote(approvedAnnotation)}, ${policy}` };
  if (annotation.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${quote(annotation)}` };
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(annotation) && URL.canParse(annotation))
    return { state: 'approved', reason: `approved in ${annotation}` };
  const reason = `protected groups must have approval annotation ${quote(approvedAnnotation)} with either a URL or a reason starting with "unapproved", ${policy}`;
  return { state: 'invalid', reason };
}

const conditions: Readonly<Record<ApprovalState['state'], readonly [status: string, reason: string]>> = {
  invalid: ['False', 'InvalidAnnotation'],
  missing: ['False', 'MissingAnnotation'],
  approved: ['True', 'ApprovedAnnotation'],
  bypassed: ['False', 'UnapprovedAnnotation'],
};

/** Returns the condition KubernetesAPIApprovalPolicyConformant; undefined for groups that are not protected. */
export function approvalCondition(
  group: string,
  annotations: Readonly<Record<string, string>> | undefined,
): CustomResourceDefinitionCondition | undefined {
  if (!isProtectedCommunityGroup(group)) return undefined;
  const { state, reason: message } = approvalState(annotations);
  const [status, reason] = conditions[state];
  return { type: 'KubernetesAPIApprovalPolicyConformant', status, reason, message };
}
