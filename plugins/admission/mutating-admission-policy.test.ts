import { admissionTable, fakeInformers } from 'kubenest/sdk/testing';
import { MutatingAdmissionPolicy } from './mutating-admission-policy.ts';
import { namespace, object, pod } from './test-objects.ts';
import { policy, policyBinding } from './test-policies.ts';

const kind = 'MutatingAdmissionPolicy';
const bound = (spec: object) => ({
  informers: fakeInformers({
    'mutatingadmissionpolicies.admissionregistration.k8s.io': [policy(kind, { reinvocationPolicy: 'Never', ...spec })],
    'mutatingadmissionpolicybindings.admissionregistration.k8s.io': [policyBinding(kind)],
    namespaces: [namespace('ns')],
  }),
});
const jsonPatch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
const addLabels = jsonPatch('[JSONPatch{op: "add", path: "/metadata/labels", value: {"team": object.metadata.name}}]');

admissionTable(
  MutatingAdmissionPolicy,
  [
    { name: 'a JSON patch', object: pod(), want: { metadata: { labels: { team: 'x' } } } },
    { name: 'another resource', object: object('v1', 'ConfigMap', {}, { namespace: 'ns' }) },
  ],
  bound({ mutations: [addLabels] }),
);
admissionTable(
  MutatingAdmissionPolicy,
  [{ name: 'mutations in order, each of the result before', object: pod(), want: { metadata: { labels: { team: 'x', next: 'x' } } } }],
  bound({
    mutations: [addLabels, jsonPatch('[JSONPatch{op: "add", path: "/metadata/labels/next", value: object.metadata.labels["team"]}]')],
  }),
);
admissionTable(
  MutatingAdmissionPolicy,
  [
    {
      name: 'a mutation that fails',
      object: pod(),
      denied: /policy 'p' with binding 'b' denied request: .*no such key: none/,
    },
  ],
  bound({ mutations: [jsonPatch('[JSONPatch{op: "add", path: "/metadata/labels", value: object.none}]')] }),
);
admissionTable(MutatingAdmissionPolicy, [{ name: 'a mutation that fails with the failure policy Ignore', object: pod() }], {
  ...bound({ failurePolicy: 'Ignore', mutations: [jsonPatch('[JSONPatch{op: "add", path: "/metadata/labels", value: object.none}]')] }),
});
admissionTable(MutatingAdmissionPolicy, [{ name: 'nothing with the feature gate disabled', object: pod() }], {
  ...bound({ mutations: [addLabels] }),
  featureGates: { enabled: () => false },
});
