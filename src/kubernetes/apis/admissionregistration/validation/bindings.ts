/** Validation of policy bindings. Upstream: pkg/apis/admissionregistration/validation/validation.go. */
import {
  addError,
  addErrors,
  duplicate,
  type FieldError,
  fieldPath,
  forbidden,
  invalid,
  notSupported,
  type Path,
  required,
  named,
} from '#apimachinery/validation/field';
import { isDNS1123Subdomain, isValidPathSegmentName } from '#apimachinery/validation/names';
import type {
  MutatingAdmissionPolicyBinding,
  MutatingAdmissionPolicyBindingSpec,
  ParamRef,
  ValidatingAdmissionPolicyBinding,
} from '#kubernetes/schema/admissionregistration_v1.gen';
import { validateChoice, validateMatchResources, validateMutatingOperations, validateSelector } from './rules.ts';

const validationActions = ['Audit', 'Deny', 'Warn'];
const spec = fieldPath('spec');

export function validateValidatingBinding(binding: ValidatingAdmissionPolicyBinding): FieldError[] {
  const { validationActions: actions = [], ...common } = binding.spec ?? {};
  return [...validateBinding(common), ...validateActions(actions, spec.child('validationActions'))];
}

export function validateMutatingBinding(binding: MutatingAdmissionPolicyBinding): FieldError[] {
  const common = binding.spec ?? {};
  return [...validateBinding(common), ...validateMutatingOperations(common.matchResources, spec.child('matchResources'))];
}

function validateBinding({ policyName = '', paramRef, matchResources }: MutatingAdmissionPolicyBindingSpec): FieldError[] {
  const at = spec.child('policyName');
  const errors = policyName === '' ? [required(at)] : isDNS1123Subdomain(policyName).map((message) => invalid(at, policyName, message));
  if (paramRef) addErrors(errors, validateParamRef(paramRef, spec.child('paramRef')));
  return [...errors, ...validateMatchResources(matchResources, spec.child('matchResources'))];
}

function validateParamRef({ name = '', selector, parameterNotFoundAction: action = '' }: ParamRef, path: Path): FieldError[] {
  const exclusive = 'name and selector are mutually exclusive';
  const errors = name === '' ? [] : isValidPathSegmentName(name).map((message) => invalid(path.child('name'), name, message));
  if (name !== '' && selector) errors.push(forbidden(path.child('name'), exclusive));
  addErrors(errors, validateSelector(selector, path.child('selector')));
  if (name !== '' && selector) errors.push(forbidden(path.child('selector'), exclusive));
  if (name === '' && !selector) errors.push(required(path, 'one of name or selector must be specified'));
  const at = path.child('parameterNotFoundAction');
  if (action === '') errors.push(required(at));
  else if (action !== 'Deny' && action !== 'Allow') errors.push(notSupported(at, action, ['Deny', 'Allow']));
  return errors;
}

function validateActions(actions: readonly string[], path: Path): FieldError[] {
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const [i, action] of actions.entries()) {
    addErrors(errors, validateChoice(path.index(i), action, validationActions));
    if (seen.has(action)) addError(errors, duplicate(path.index(i), named(action)));
    seen.add(action);
  }
  if (seen.has('Deny') && seen.has('Warn')) {
    const why = 'repeating the same validation failure information in the API response and headers serves no purpose';
    errors.push(invalid(path, actions, `must not contain both Deny and Warn (${why})`));
  }
  if (seen.size === 0) errors.push(required(path, 'at least one validation action is required'));
  return errors;
}
