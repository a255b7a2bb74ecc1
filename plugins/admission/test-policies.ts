import type { KubeObject } from 'kubenest/sdk';
import { object } from './test-objects.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';
const pods = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['pods'] }];
/** Selectors as the server's defaulting sets them. */
const everywhere = { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} };

type Kind = 'ValidatingAdmissionPolicy' | 'MutatingAdmissionPolicy';

/** The policy `p`, which matches created and updated pods unless overridden. */
export function policy(kind: Kind, spec: object): KubeObject {
  const defaults = { failurePolicy: 'Fail', matchConstraints: { resourceRules: pods, ...everywhere } };
  return object(apiVersion, kind, { spec: { ...defaults, ...spec } }, { name: 'p', uid: 'p', generation: 1 });
}

/** The binding `b` of the policy `p`. */
export function policyBinding(
  kind: Kind,
  spec: { readonly matchResources?: object; readonly validationActions?: readonly string[] } = {},
): KubeObject {
  const matchResources = spec.matchResources && { matchResources: { ...everywhere, ...spec.matchResources } };
  return object(apiVersion, `${kind}Binding`, { spec: { policyName: 'p', ...spec, ...matchResources } }, { name: 'b', uid: 'b' });
}
