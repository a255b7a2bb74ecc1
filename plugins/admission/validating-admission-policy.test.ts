import type { KubeObject } from 'kubenest/sdk';
import { admissionTable, fakeAuthorizer, fakeInformers } from 'kubenest/sdk/testing';
import { policy, policyBinding } from './test-policies.ts';
import { namespace, object, pod } from './test-objects.ts';
import { ValidatingAdmissionPolicy } from './validating-admission-policy.ts';

const kind = 'ValidatingAdmissionPolicy';
/** The policy `p`, bound with the actions. */
const bound = (spec: object, binding: object = {}, more: Record<string, readonly KubeObject[]> = {}) => ({
  informers: fakeInformers({
    'validatingadmissionpolicies.admissionregistration.k8s.io': [policy(kind, spec)],
    'validatingadmissionpolicybindings.admissionregistration.k8s.io': [policyBinding(kind, { validationActions: ['Deny'], ...binding })],
    namespaces: [namespace('ns', { team: 'a' })],
    ...more,
  }),
});
const named = { name: 'named', object: pod({}, { labels: { team: 'a' } }) };
const denied = /ValidatingAdmissionPolicy 'p' with binding 'b' denied request: /;
const hasTeam = { expression: "has(object.metadata.labels) && 'team' in object.metadata.labels" };

admissionTable(
  ValidatingAdmissionPolicy,
  [
    { ...named, name: 'an object that fulfils the expression' },
    { name: 'an object that does not', object: pod(), denied: new RegExp(`${denied.source}failed expression: has`) },
    { name: 'another resource', object: object('v1', 'ConfigMap', {}, { namespace: 'ns' }) },
    { name: 'a deletion', oldObject: pod(), operation: 'DELETE' },
  ],
  bound({ validations: [hasTeam] }),
);
admissionTable(
  ValidatingAdmissionPolicy,
  [{ name: 'the message of the policy', object: pod(), denied: new RegExp(`${denied.source}name a team$`) }],
  bound({ validations: [{ ...hasTeam, message: 'name a team' }] }),
);
admissionTable(
  ValidatingAdmissionPolicy,
  [{ name: 'a computed message', object: pod(), denied: new RegExp(`${denied.source}pod x$`) }],
  bound({ validations: [{ ...hasTeam, messageExpression: "'pod ' + object.metadata.name" }] }),
);
admissionTable(
  ValidatingAdmissionPolicy,
  [
    {
      name: 'the actions Warn and Audit admit',
      object: pod(),
      warnings: [
        "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': failed expression: has(object.metadata.labels) && 'team' in object.metadata.labels",
      ],
      annotations: {
        'validation.policy.admission.k8s.io/validation_failure':
          '[{"message":"failed expression: has(object.metadata.labels) \\u0026\\u0026 \'team\' in object.metadata.labels","policy":"p","binding":"b","expressionIndex":0,"validationActions":["Warn","Audit"]}]',
      },
    },
  ],
  bound({ validations: [hasTeam] }, { validationActions: ['Warn', 'Audit'] }),
);
admissionTable(
  ValidatingAdmissionPolicy,
  [
    {
      name: 'an expression that fails',
      object: pod(),
      denied: new RegExp(`${denied.source}expression 'object.none == 1' resulted in error: no such key: none`),
    },
  ],
  bound({ validations: [{ expression: 'object.none == 1' }] }),
);
admissionTable(
  ValidatingAdmissionPolicy,
  [{ name: 'an expression that fails with the failure policy Ignore', object: pod() }],
  bound({ validations: [{ expression: 'object.none == 1' }], failurePolicy: 'Ignore' }),
);
admissionTable(
  ValidatingAdmissionPolicy,
  [
    { name: 'an object that the match conditions select', object: pod({}, { name: 'checked' }), denied },
    { name: 'an object that they do not select', object: pod() },
  ],
  bound({ validations: [{ expression: 'false' }], matchConditions: [{ name: 'c', expression: "object.metadata.name == 'checked'" }] }),
);
admissionTable(
  ValidatingAdmissionPolicy,
  [{ name: 'a binding for other namespaces', object: pod() }],
  bound({ validations: [{ expression: 'false' }] }, { matchResources: { namespaceSelector: { matchLabels: { team: 'b' } } } }),
);
admissionTable(ValidatingAdmissionPolicy, [{ name: 'the namespace, variables, the user and the authorizer', object: pod() }], {
  ...bound({
    variables: [{ name: 'team', expression: "namespaceObject.metadata.labels['team']" }],
    validations: [
      { expression: "variables.team == 'a' && request.userInfo.username == 'jane' && oldObject == null" },
      { expression: "authorizer.group('').resource('pods').namespace('ns').check('get').allowed()" },
    ],
  }),
  authorizer: fakeAuthorizer(({ resource, verb, namespace: asked }) => `${verb} ${asked}/${resource}` === 'get ns/pods'),
});
admissionTable(
  ValidatingAdmissionPolicy,
  [
    {
      name: 'annotations of the policy',
      object: pod(),
      annotations: { 'p/pod': 'pod x' },
    },
  ],
  bound({ auditAnnotations: [{ key: 'pod', valueExpression: "'pod ' + object.metadata.name" }] }),
);
