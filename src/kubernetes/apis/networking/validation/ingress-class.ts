/** Validation of ingress classes. Upstream: pkg/apis/networking/validation/validation.go. */
import {
  addErrors,
  type FieldError,
  fieldPath,
  forbidden,
  invalid,
  notSupportedText,
  type Path,
  required,
  tooLong,
} from '#apimachinery/validation/field';
import { isDomainPrefixedPath, nameIsDNSSubdomain, validateNamespaceName } from '#apimachinery/validation/names';
import { fieldImmutableError } from '#apimachinery/validation/object-meta';
import { byteLength, check } from '#kubernetes/apis/core/validation/checks';
import { validateMetaAgain } from '#kubernetes/apis/core/validation/object-meta';
import type { IngressClass, IngressClassParametersReference } from '#kubernetes/schema/networking_v1.gen';
import { validateReference } from './ingress.ts';

const specPath = fieldPath('spec');
const maxControllerLength = 250;

export function validateIngressClass({ spec = {} }: IngressClass): FieldError[] {
  const errors: FieldError[] = [];
  const { controller = '', parameters } = spec;
  if (byteLength(controller) > maxControllerLength) errors.push(tooLong(specPath.child('controller'), '', maxControllerLength));
  addErrors(errors, isDomainPrefixedPath(specPath.child('controller'), controller));
  if (parameters) validateParameters(errors, parameters, specPath.child('parameters'));
  return errors;
}

export function validateIngressClassUpdate(ingressClass: IngressClass, old: IngressClass): FieldError[] {
  const errors: FieldError[] = [];
  const controller = ingressClass.spec?.controller ?? '';
  if (controller !== (old.spec?.controller ?? '')) errors.push(invalid(specPath.child('controller'), controller, fieldImmutableError));
  validateMetaAgain(errors, ingressClass.metadata, nameIsDNSSubdomain, false);
  addErrors(errors, validateIngressClass(ingressClass));
  return errors;
}

function validateParameters(errors: FieldError[], parameters: IngressClassParametersReference, path: Path): void {
  validateReference(errors, parameters, path);
  const { scope, namespace } = parameters;
  if (scope === undefined) errors.push(required(path.child('scope')));
  else if (scope === 'Namespace') {
    if (namespace === undefined) errors.push(required(path.child('namespace'), "`parameters.scope` is set to 'Namespace'"));
    else check(errors, validateNamespaceName(namespace, false), namespace, path, 'namespace');
  } else if (scope !== 'Cluster') errors.push(notSupportedText(path.child('scope'), scope, ['Cluster', 'Namespace']));
  else if (namespace !== undefined) errors.push(forbidden(path.child('namespace'), "`parameters.scope` is set to 'Cluster'"));
}
