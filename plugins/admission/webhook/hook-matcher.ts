import {
  type Attributes,
  type Informer,
  isNotFound,
  type KubeObject,
  type LabelSelector,
  newInternalError,
  newNotFound,
} from 'kubenest/sdk';
import type { Hook } from './hook.ts';

const policyKinds = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
]);

/** True for requests about admission configuration itself, which webhooks must not be able to block. */
export function isExempt({ kind }: Attributes): boolean {
  return kind.group === 'admissionregistration.k8s.io' && policyKinds.has(kind.kind);
}

/**
 * True if a webhook's selectors match a request. `object` is the current object. Throws a StatusError if the selectors
 * cannot be evaluated. Upstream: plugin/webhook/predicates.
 */
export function isSelected(hook: Hook, request: Attributes, object: KubeObject | undefined, namespaces: Informer): boolean {
  const inNamespace = outcome(() => isNamespaceSelected(hook.namespaceSelector, request, object, namespaces));
  if (inNamespace === false) return false;
  const ofObject = outcome(() => isObjectSelected(hook.objectSelector, object, request.oldObject));
  if (ofObject === false) return false;
  for (const result of [inNamespace, ofObject]) if (result !== true) throw isNotFound(result) ? result : newInternalError(result);
  return true;
}

function outcome(ask: () => boolean): boolean | Error {
  try {
    return ask();
  } catch (error) {
    return error as Error;
  }
}

function isNamespaceSelected(
  selector: LabelSelector | Error,
  { namespace, resource, subresource, operation }: Attributes,
  object: KubeObject | undefined,
  namespaces: Informer,
): boolean {
  const isNamespace = resource.resource === 'namespaces';
  if (namespace === '' && !isNamespace) return true;
  if (selector instanceof Error) throw selector;
  if (selector.isEmpty()) return true;
  if (isNamespace && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'))
    return selector.matches(object?.metadata.labels);
  const found = namespaces.get('', namespace);
  if (!found) throw newNotFound({ group: '', resource: 'namespaces' }, namespace);
  return selector.matches(found.metadata.labels);
}

function isObjectSelected(selector: LabelSelector | Error, object: KubeObject | undefined, old: KubeObject | undefined): boolean {
  if (selector instanceof Error) throw selector;
  if (selector.isEmpty()) return true;
  return [object, old].some((one) => one !== undefined && selector.matches(one.metadata?.labels));
}
