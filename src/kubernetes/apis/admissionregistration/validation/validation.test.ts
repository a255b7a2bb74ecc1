import { expect, test } from 'vitest';
import type { FieldError } from '#apimachinery/validation/field';
import { validateMutatingBinding, validateValidatingBinding } from './bindings.ts';
import { validateMutatingPolicy, validateValidatingPolicy, validateValidatingPolicyUpdate } from './policies.ts';
import { validateWebhookConfiguration, validateWebhookConfigurationUpdate } from './webhooks.ts';

const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
const matchConstraints = { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {}, resourceRules: [rule] };
const metadata = { name: 'p' };
const of = (spec: object) => ({ apiVersion: 'v1', kind: 'P', metadata, spec });
const validating = (spec: object) => of({ failurePolicy: 'Fail', matchConstraints, validations: [{ expression: 'true' }], ...spec });
const mutating = (...mutations: object[]) => of({ failurePolicy: 'Fail', reinvocationPolicy: 'Never', matchConstraints, mutations });
const webhook = {
  name: 'a.b.c',
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  clientConfig: { url: 'https://x/y' },
  rules: [rule],
};
const applying = (expression: string) => mutating({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });

const table: readonly (readonly [name: string, FieldError[], string[]])[] = [
  ['a policy', validateValidatingPolicy(validating({})), []],
  [
    'an expression',
    validateValidatingPolicy(validating({ validations: [{ expression: '1' }] })),
    ['spec.validations[0].expression must evaluate to bool but got int'],
  ],
  [
    'an expression that does not compile',
    validateValidatingPolicy(validating({ validations: [{ expression: 'params.x == 1' }] })),
    [
      "spec.validations[0].expression compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.x == 1\n | ^",
    ],
  ],
  [
    'parameters',
    validateValidatingPolicy(
      validating({ paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, validations: [{ expression: 'params.x == 1' }] }),
    ),
    [],
  ],
  [
    'variables may refer only to earlier ones',
    validateValidatingPolicy(
      validating({
        variables: [
          { name: 'in', expression: '1' },
          { name: 'a', expression: '"x"' },
        ],
        validations: [{ expression: 'variables.a == 1' }],
      }),
    ),
    [
      'spec.variables[0].name must be a valid CEL identifier',
      "spec.validations[0].expression compilation failed: ERROR: <input>:1:13: found no matching overload for '_==_' applied to '(string, int)'\n | variables.a == 1\n | ............^",
    ],
  ],
  [
    'match conditions without access to variables',
    validateValidatingPolicy(
      validating({ variables: [{ name: 'a', expression: '1' }], matchConditions: [{ name: 'x', expression: 'variables.a == 1' }] }),
    ),
    [
      "spec.matchConditions[0].expression compilation failed: ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')\n | variables.a == 1\n | ^",
    ],
  ],
  [
    'a policy without validations',
    validateValidatingPolicy(validating({ validations: [] })),
    [
      'spec.validations validations or auditAnnotations must contain at least one item',
      'spec.auditAnnotations validations or auditAnnotations must contain at least one item',
    ],
  ],
  [
    'unchanged conditions are not validated',
    validateValidatingPolicyUpdate(
      validating({ matchConditions: [{ name: 'x', expression: '1' }] }),
      validating({ matchConditions: [{ name: 'x', expression: '1' }] }),
    ),
    [],
  ],
  ['an apply configuration', validateMutatingPolicy(applying('Object{spec: Object.spec{a: 1}}')), []],
  [
    'another type',
    validateMutatingPolicy(applying('[1]')),
    ['spec.mutations[0].applyConfiguration.expression must evaluate to Object but got list(int)'],
  ],
  [
    'a patch without its type',
    validateMutatingPolicy(mutating({ patchType: 'JSONPatch', applyConfiguration: { expression: 'x' } })),
    [
      'spec.mutations[0].jsonPatch must be specified when patchType is JSONPatch',
      'spec.mutations[0].applyConfiguration must not be specified when patchType is JSONPatch',
    ],
  ],
  [
    'actions',
    validateValidatingBinding(of({ policyName: 'p', validationActions: ['Deny', 'Warn'] })),
    [
      'spec.validationActions must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
    ],
  ],
  [
    'a reference to parameters',
    validateMutatingBinding(of({ policyName: 'p', paramRef: {} })),
    ['spec.paramRef one of name or selector must be specified', 'spec.paramRef.parameterNotFoundAction '],
  ],
  ['a webhook', validateWebhookConfiguration({ webhooks: [webhook] }), []],
  ['two webhooks with the same name', validateWebhookConfiguration({ webhooks: [webhook, webhook] }), ['webhooks[1].name ']],
  [
    'unchanged values stay valid',
    validateWebhookConfigurationUpdate(
      { webhooks: [webhook, { ...webhook, sideEffects: 'Some' }] },
      { webhooks: [webhook, { ...webhook, sideEffects: 'Some' }] },
    ),
    [],
  ],
];

test.each(table)('%s', (_name, errors, expected) => {
  expect(errors.map(({ field, detail }) => `${field} ${detail}`)).toEqual(expected);
});
