/** Validation of policies. Upstream: pkg/apis/admissionregistration/validation/validation.go. */
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { addErrors, duplicate, type FieldError, fieldPath, invalid, type Path, required } from '#apimachinery/validation/field';
import { isDNS1035Label, isDNS1123Subdomain } from '#apimachinery/validation/names';
import { validateConditions } from '#apimachinery/validation/object-meta';
import { checkEach, errorsOfEach } from '#apimachinery/validation/pausing';
import { auditAnnotationTypes, conditionTypes, messageTypes, PolicyCompiler } from '#apiserver/admission/cel/expression';
import { jsonPatchListType, objectType } from '#apiserver/admission/cel/patch-types';
import type {
  AuditAnnotation,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicySpec,
  Mutation,
  ParamKind,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicySpec,
  Validation,
  Variable,
} from '#kubernetes/schema/admissionregistration_v1.gen';
import { ageOf, compileErrors, type KnownExpressions, noneKnown, validateMatchConditions, validateQualifiedName } from './expressions.ts';
import {
  failurePolicies,
  reinvocationPolicies,
  validateChoice,
  validateMatchResources,
  validateMutatingOperations,
  validateRequiredChoice,
} from './rules.ts';

type CommonSpec = Pick<ValidatingAdmissionPolicySpec, 'failurePolicy' | 'paramKind' | 'matchConstraints' | 'matchConditions' | 'variables'>;

/** Values of the stored policy that stay valid. */
interface Known {
  readonly ignoresMatchConditions: boolean;
  readonly matchConditions: KnownExpressions;
  readonly validations: KnownExpressions;
  readonly messages: KnownExpressions;
  readonly annotations: KnownExpressions;
  readonly mutations: KnownExpressions;
}

const nothingKnown: Known = {
  ignoresMatchConditions: false,
  matchConditions: noneKnown,
  validations: noneKnown,
  messages: noneKnown,
  annotations: noneKnown,
  mutations: noneKnown,
};

const maxAuditAnnotations = 20;
const maxValueExpressionBytes = 5 * 1024;
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const patchTypes = ['ApplyConfiguration', 'JSONPatch'];
const spec = fieldPath('spec');
const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const reservedWords = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);

export function validateValidatingPolicy(policy: ValidatingAdmissionPolicy): FieldError[] {
  return validateValidating(policy, nothingKnown);
}

export function validateValidatingPolicyUpdate(policy: ValidatingAdmissionPolicy, old: ValidatingAdmissionPolicy): FieldError[] {
  const { validations = [], auditAnnotations = [] } = old.spec ?? {};
  return validateValidating(policy, {
    ...commonKnown(policy.spec, old.spec),
    validations: new Set(validations.map(({ expression }) => expression)),
    messages: new Set(validations.map(({ messageExpression }) => messageExpression)),
    annotations: new Set(auditAnnotations.map(({ valueExpression }) => valueExpression)),
  });
}

export function validateMutatingPolicy(policy: MutatingAdmissionPolicy): FieldError[] {
  return validateMutating(policy, nothingKnown);
}

export function validateMutatingPolicyUpdate(policy: MutatingAdmissionPolicy, old: MutatingAdmissionPolicy): FieldError[] {
  const { mutations = [] } = old.spec ?? {};
  return validateMutating(policy, {
    ...commonKnown(policy.spec, old.spec),
    mutations: new Set(mutations.map(({ applyConfiguration }) => applyConfiguration?.expression)),
  });
}

export function validateValidatingPolicyStatus({ status = {} }: ValidatingAdmissionPolicy): FieldError[] {
  const path = fieldPath('status');
  const warnings = status.typeChecking?.expressionWarnings ?? [];
  const errors = warnings.flatMap(({ warning = '', fieldRef = '' }, i) => {
    const at = path.child('typeChecking', 'expressionWarnings').index(i);
    const wrong = warning === '' ? [required(at.child('warning'))] : [];
    return fieldRef.trim() === '' ? [...wrong, required(at.child('fieldRef'))] : wrong;
  });
  return [...errors, ...validateConditions(status.conditions ?? [], path.child('conditions'))];
}

function commonKnown(next: CommonSpec = {}, old: CommonSpec = {}): Known {
  return {
    ...nothingKnown,
    ignoresMatchConditions:
      semanticDeepEqual(next.paramKind, old.paramKind) && semanticDeepEqual(next.matchConditions, old.matchConditions),
    matchConditions: new Set((old.matchConditions ?? []).map(({ expression }) => expression)),
  };
}

/** Context that the expressions of one policy share. */
interface Scope {
  /** Compiler that knows the variables of the policy. */
  readonly compiler: PolicyCompiler;
  readonly params: boolean;
  readonly known: Known;
}

/** Validates the fields that validating and mutating policies share, without expressions. */
function validateCommon({ failurePolicy, paramKind, matchConstraints }: CommonSpec): FieldError[] {
  const at = spec.child('failurePolicy');
  const errors = failurePolicy === undefined ? [required(at)] : validateChoice(at, failurePolicy, failurePolicies);
  if (paramKind) addErrors(errors, validateParamKind(paramKind, spec.child('paramKind')));
  const constraints = spec.child('matchConstraints');
  if (!matchConstraints) errors.push(required(constraints));
  addErrors(errors, validateMatchResources(matchConstraints, constraints));
  if (matchConstraints && (matchConstraints.resourceRules ?? []).length === 0) errors.push(required(constraints.child('resourceRules')));
  return errors;
}

/**
 * Adds the errors of the expressions that validating and mutating policies share. As upstream, it runs after the checks of the
 * constraints of each kind. Expressions of a mutating policy may name `variables` even if it has none.
 */
function validateCommonExpressions(errors: FieldError[], common: CommonSpec, known: Known, mutates = false): Scope {
  const params = common.paramKind !== undefined;
  if (!known.ignoresMatchConditions) {
    const conditions = { params, known: known.matchConditions };
    addErrors(errors, validateMatchConditions(common.matchConditions ?? [], conditions, spec.child('matchConditions')));
  }
  const { variables = [] } = common;
  const path = spec.child('variables');
  const newScope = (): Scope => ({ compiler: new PolicyCompiler('new', mutates || variables.length > 0), params, known });
  const checked = checkEach(variables, path, variables, newScope, (found, variable, i, scope) =>
    addVariable(found, scope, variable, path.index(i)),
  );
  addErrors(errors, checked.errors);
  return checked.state;
}

function addVariable(errors: FieldError[], { compiler, params, known }: Scope, { name = '', expression = '' }: Variable, path: Path): void {
  if (name.trim() === '') errors.push(required(path.child('name'), 'name is not specified'));
  else if (!identifier.test(name) || reservedWords.has(name))
    errors.push(invalid(path.child('name'), name, 'must be a valid CEL identifier'));
  if (expression.trim() === '') {
    errors.push(required(path.child('expression'), 'expression is not specified'));
    return;
  }
  const compiled = compiler.addVariable(name, expression, { params, authorizer: true }, ageOf(expression, known.validations));
  addErrors(errors, compileErrors(path.child('expression'), compiled));
}

function validateParamKind({ apiVersion = '', kind = '' }: ParamKind, path: Path): FieldError[] {
  const errors = apiVersion === '' ? [required(path.child('apiVersion'))] : validateApiVersion(apiVersion, path.child('apiVersion'));
  if (kind === '') return [...errors, required(path.child('kind'))];
  const wrong = isDNS1035Label(kind.toLowerCase());
  if (wrong.length > 0)
    errors.push(invalid(path.child('kind'), kind, `may have mixed case, but should otherwise match: ${wrong.join(',')}`));
  return errors;
}

function validateApiVersion(apiVersion: string, path: Path): FieldError[] {
  const parts = apiVersion.split('/');
  if (parts.length > 2) return [invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  const version = parts.at(-1)!;
  const group = parts.length === 2 ? parts[0]! : '';
  const errors: FieldError[] = [];
  const wrongGroup = group === '' ? [] : isDNS1123Subdomain(group);
  if (wrongGroup.length > 0) errors.push(invalid(path, group, wrongGroup.join(',')));
  if (version === '') return [...errors, invalid(path, apiVersion, 'version must be specified')];
  const wrongVersion = isDNS1035Label(version);
  if (wrongVersion.length > 0) errors.push(invalid(path, version, wrongVersion.join(',')));
  return errors;
}

function validateValidating(policy: ValidatingAdmissionPolicy, known: Known): FieldError[] {
  const { validations = [], auditAnnotations = [], ...common } = policy.spec ?? {};
  const errors = validateCommon(common);
  const scope = validateCommonExpressions(errors, common, known);
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    errors.push(required(spec.child('validations'), detail), required(spec.child('auditAnnotations'), detail));
    return errors;
  }
  const at = spec.child('validations');
  const visit = (found: FieldError[], validation: Validation, i: number): void =>
    addErrors(found, validateValidation(validation, scope, at.index(i)));
  addErrors(errors, errorsOfEach(validations, at, validations, visit));
  const path = spec.child('auditAnnotations');
  if (auditAnnotations.length > maxAuditAnnotations)
    errors.push(invalid(path, auditAnnotations.map(internalAnnotation), `must not have more than ${maxAuditAnnotations} auditAnnotations`));
  const keys = new Set<string>();
  for (const [i, annotation] of auditAnnotations.entries()) {
    const { key = '' } = annotation;
    addErrors(errors, validateAnnotation(policy.metadata.name ?? '', annotation, scope, path.index(i)));
    if (keys.has(key)) errors.push(duplicate(path.index(i).child('key'), key));
    keys.add(key);
  }
  return errors;
}

function validateValidation(validation: Validation, { compiler, params, known }: Scope, path: Path): FieldError[] {
  const { expression = '', message = '', messageExpression = '', reason } = validation;
  const errors: FieldError[] = [];
  if (expression.trim() === '') {
    errors.push(required(path.child('expression'), 'expression is not specified'));
  } else {
    const age = ageOf(expression, known.validations);
    addErrors(
      errors,
      compileErrors(path.child('expression'), compiler.compile(expression, conditionTypes, { params, authorizer: true }, age)),
    );
  }
  const nonEmpty = 'must be non-empty if specified';
  const at = path.child('messageExpression');
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(invalid(at, messageExpression, nonEmpty));
  } else if (messageExpression !== '') {
    const age = ageOf(messageExpression, known.messages);
    addErrors(errors, compileErrors(at, compiler.compile(messageExpression, messageTypes, { params, authorizer: false }, age)));
  }
  if (message !== '' && message.trim() === '') errors.push(invalid(path.child('message'), message, nonEmpty));
  else if (/[\n\r]/.test(message.trim())) errors.push(invalid(path.child('message'), message, 'must not contain line breaks'));
  return [...errors, ...validateChoice(path.child('reason'), reason, reasons)];
}

function validateAnnotation(
  policy: string,
  { key = '', valueExpression = '' }: AuditAnnotation,
  { compiler, params, known }: Scope,
  path: Path,
): FieldError[] {
  const errors =
    policy === ''
      ? [invalid(path.child('key'), key, 'requires metadata.name be non-empty')]
      : validateQualifiedName(`${policy}/${key}`, path.child('key'));
  const at = path.child('valueExpression');
  const text = valueExpression.trim();
  if (text === '') return [...errors, required(at, 'valueExpression is not specified')];
  if (Buffer.byteLength(text) > maxValueExpressionBytes)
    return [...errors, required(at, `must not exceed ${maxValueExpressionBytes} bytes in length`)];
  const compiled = compiler.compile(text, auditAnnotationTypes, { params, authorizer: true }, ageOf(valueExpression, known.annotations));
  return [...errors, ...compileErrors(at, compiled, valueExpression)];
}

function validateMutating(policy: MutatingAdmissionPolicy, known: Known): FieldError[] {
  const { mutations = [], reinvocationPolicy, ...common }: MutatingAdmissionPolicySpec = policy.spec ?? {};
  const errors = validateCommon(common);
  addErrors(errors, validateMutatingOperations(common.matchConstraints, spec.child('matchConstraints')));
  const scope = validateCommonExpressions(errors, common, known, true);
  const path = spec.child('mutations');
  if (mutations.length === 0) errors.push(required(path, 'mutations must contain at least one item'));
  for (const [i, mutation] of mutations.entries()) addErrors(errors, validateMutation(mutation, scope, path.index(i)));
  return [...errors, ...validateRequiredChoice(spec.child('reinvocationPolicy'), reinvocationPolicy, reinvocationPolicies)];
}

function validateMutation(mutation: Mutation, { compiler, params, known }: Scope, path: Path): FieldError[] {
  const { patchType } = mutation;
  const wrongType = validateRequiredChoice(path.child('patchType'), patchType, patchTypes);
  if (wrongType.length > 0) return wrongType;
  const isPatch = patchType === 'JSONPatch';
  const [field, other] = isPatch ? (['jsonPatch', 'applyConfiguration'] as const) : (['applyConfiguration', 'jsonPatch'] as const);
  const errors: FieldError[] = [];
  const body = mutation[field];
  const at = path.child(field, 'expression');
  const text = body?.expression?.trim() ?? '';
  if (!body) {
    errors.push(required(path.child(field), `must be specified when patchType is ${patchType}`));
  } else if (text === '') {
    errors.push(required(at));
  } else {
    const options = { params, authorizer: true, patchTypes: true };
    const age = ageOf(body.expression ?? '', known.mutations);
    addErrors(errors, compileErrors(at, compiler.compile(text, [isPatch ? jsonPatchListType : objectType], options, age)));
  }
  if (mutation[other]) errors.push(invalid(path.child(other), `{${other}}`, `must not be specified when patchType is ${patchType}`));
  return errors;
}

/** Returns an annotation as upstream prints its internal type. */
function internalAnnotation({ key = '', valueExpression = '' }: AuditAnnotation): object {
  return { Key: key, ValueExpression: valueExpression };
}
