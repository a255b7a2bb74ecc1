import { expect, it } from 'vitest';
import { readAuthorizationConfiguration } from './authorization-configuration.ts';

const at = 'authorizers[0].matchConditions';
const invalid = (expression: string, detail: string) => `${at}[0].expression: Invalid value: "${expression}": ${detail}`;

// Recorded from kube-apiserver v1.36.3, whose paths lack `webhook`.
it.each([
  { expressions: ["request.user == '0'", "request.user == '0'"], want: `${at}[1].expression: Duplicate value: "request.user == '0'"` },
  { expressions: Array.from({ length: 66 }, (_, i) => `request.user == '${i}'`), want: `${at}: Too many: 66: must have at most 64 items` },
  { expressions: [' '], want: `${at}[0].expression: Required value` },
  { expressions: ['1'], want: invalid('1', 'must evaluate to bool but got int') },
  { expressions: ['dyn(1)'], want: invalid('dyn(1)', 'must evaluate to bool but got dyn') },
  { expressions: ['request.extra'], want: invalid('request.extra', 'must evaluate to bool but got map(string, list(string))') },
  { expressions: ['request'], want: invalid('request', 'must evaluate to bool but got kubernetes.SubjectAccessReviewSpec') },
  { expressions: ['null'], want: invalid('null', 'must evaluate to bool but got null_type') },
])('$want', async ({ expressions, want }) => {
  const webhook = {
    ...{ timeout: '3s', subjectAccessReviewVersion: 'v1', matchConditionSubjectAccessReviewVersion: 'v1', failurePolicy: 'Deny' },
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/missing' },
    matchConditions: expressions.map((expression) => ({ expression })),
  };
  const text = JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthorizationConfiguration',
    authorizers: [{ type: 'Webhook', name: 'w', webhook }],
  });
  await expect(readAuthorizationConfiguration(text)).rejects.toThrow(new Error(want));
});
