/** Validation of scheduling constraints: node selectors, affinity, topology spread, tolerations. Upstream: pkg/apis/core/validation. */
import type { LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';
import { quote } from '#apimachinery/runtime/quote';
import {
  addErrors,
  type FieldError,
  type Path,
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  named,
} from '#apimachinery/validation/field';
import {
  isDecimalInteger,
  isQualifiedName,
  isValidLabelValue,
  nameIsDNSSubdomain,
  validateNamespaceName,
} from '#apimachinery/validation/names';
import { validateLabelSelector } from '#apimachinery/validation/object-meta';
import { addErrorsOfEach, errorsOfEach } from '#apimachinery/validation/pausing';
import type {
  Affinity,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinityTerm,
  Toleration,
  TopologySpreadConstraint,
  WeightedPodAffinityTerm,
} from '#kubernetes/schema/core_v1.gen';
import { check, validateEnum, validateOptionalEnum, validatePositive } from './checks.ts';
import type { PodOptions } from './pod-options.ts';

type Selector = Parameters<typeof validateLabelSelector>[0];

function validateSelector(
  errors: FieldError[],
  selector: LabelSelector | undefined,
  path: Path,
  allowInvalidLabelValueInSelector: () => boolean,
): void {
  if (!selector) return;
  const found = validateLabelSelector(selector as Selector, {}, path);
  if (found.length === 0) return;
  addErrors(
    errors,
    allowInvalidLabelValueInSelector()
      ? validateLabelSelector(selector as Selector, { allowInvalidLabelValueInSelector: true }, path)
      : found,
  );
}

export function validateNodeSelectorRequirement(
  errors: FieldError[],
  requirement: NodeSelectorRequirement,
  allowInvalidLabelValue: () => boolean,
  path: Path,
): void {
  const { key = '', operator = '', values = [] } = requirement;
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) errors.push(required(path.child('values'), "must be specified when `operator` is 'In' or 'NotIn'"));
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0)
        errors.push(forbidden(path.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      break;
    case 'Gt':
    case 'Lt':
      if (values.length !== 1)
        errors.push(required(path.child('values'), "must be specified single value when `operator` is 'Lt' or 'Gt'"));
      break;
    default:
      errors.push(invalid(path.child('operator'), named(operator), 'not a valid selector operator'));
  }
  check(errors, isQualifiedName(key), key, path, 'key');
  addErrorsOfEach(errors, values, path.child('values'), (found, value, at) => {
    const wrong = isValidLabelValue(value);
    if (wrong.length > 0 && !allowInvalidLabelValue()) check(found, wrong, value, at);
  });
}

function validateNodeFieldSelectorRequirement(
  errors: FieldError[],
  { key = '', operator = '', values = [] }: NodeSelectorRequirement,
  path: Path,
): void {
  if (operator !== 'In' && operator !== 'NotIn')
    errors.push(invalid(path.child('operator'), named(operator), 'not a valid selector operator'));
  else if (values.length !== 1)
    errors.push(required(path.child('values'), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
  if (key !== 'metadata.name') {
    errors.push(invalid(path.child('key'), key, 'not a valid field selector key'));
    return;
  }
  addErrorsOfEach(errors, values, path.child('values'), (found, value, at) => check(found, nameIsDNSSubdomain(value, false), value, at));
}

export function validateNodeSelectorTerm(
  errors: FieldError[],
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  allowInvalidLabelValue: () => boolean,
  path: Path,
): void {
  addErrorsOfEach(errors, matchExpressions, path.child('matchExpressions'), (found, requirement, at) =>
    validateNodeSelectorRequirement(found, requirement, allowInvalidLabelValue, at),
  );
  addErrorsOfEach(errors, matchFields, path.child('matchFields'), validateNodeFieldSelectorRequirement);
}

export function validateNodeSelector(
  errors: FieldError[],
  { nodeSelectorTerms = [] }: NodeSelector,
  allowInvalidLabelValue: () => boolean,
  path: Path,
): void {
  const at = path.child('nodeSelectorTerms');
  if (nodeSelectorTerms.length === 0) errors.push(required(at, 'must have at least one node selector term'));
  addErrorsOfEach(errors, nodeSelectorTerms, at, (found, term, place) =>
    validateNodeSelectorTerm(found, term, allowInvalidLabelValue, place),
  );
}

const always = () => true;

function validateWeight(errors: FieldError[], weight: number | undefined, path: Path): void {
  if (weight === undefined || weight <= 0 || weight > 100)
    errors.push(invalid(path.child('weight'), weight ?? 0, 'must be in the range 1-100'));
}

function validateNodeAffinity(errors: FieldError[], affinity: NodeAffinity, path: Path, options: PodOptions): void {
  const { requiredDuringSchedulingIgnoredDuringExecution: hard, preferredDuringSchedulingIgnoredDuringExecution: soft } = affinity;
  if (hard)
    validateNodeSelector(
      errors,
      hard,
      () => options.allowInvalidLabelValueInRequiredNodeAffinity,
      path.child('requiredDuringSchedulingIgnoredDuringExecution'),
    );
  addErrorsOfEach(
    errors,
    soft ?? [],
    path.child('preferredDuringSchedulingIgnoredDuringExecution'),
    (found, { weight, preference = {} }, at) => {
      validateWeight(found, weight, at);
      validateNodeSelectorTerm(found, preference, always, at.child('preference'));
    },
  );
}

export function validateAffinity(
  errors: FieldError[],
  { nodeAffinity, podAffinity, podAntiAffinity }: Affinity,
  path: Path,
  options: PodOptions,
): void {
  if (nodeAffinity) validateNodeAffinity(errors, nodeAffinity, path.child('nodeAffinity'), options);
  if (podAffinity) validatePodAffinity(errors, podAffinity, path.child('podAffinity'), options);
  if (podAntiAffinity) validatePodAffinity(errors, podAntiAffinity, path.child('podAntiAffinity'), options);
}

interface PodAffinityRules {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[];
}

/** Validates affinity or anti-affinity. */
function validatePodAffinity(errors: FieldError[], rules: PodAffinityRules, path: Path, options: PodOptions): void {
  const { requiredDuringSchedulingIgnoredDuringExecution: hard, preferredDuringSchedulingIgnoredDuringExecution: soft } = rules;
  addErrorsOfEach(errors, hard ?? [], path.child('requiredDuringSchedulingIgnoredDuringExecution'), (found, term, at) =>
    validatePodAffinityTerm(found, term, at, options),
  );
  addErrorsOfEach(
    errors,
    soft ?? [],
    path.child('preferredDuringSchedulingIgnoredDuringExecution'),
    (found, { weight, podAffinityTerm = {} }, at) => {
      validateWeight(found, weight, at);
      validatePodAffinityTerm(found, podAffinityTerm, at.child('podAffinityTerm'), options);
    },
  );
}

function validatePodAffinityTerm(errors: FieldError[], term: PodAffinityTerm, path: Path, options: PodOptions): void {
  const { labelSelector, namespaceSelector, namespaces = [], topologyKey = '' } = term;
  const allow = () => options.allowInvalidLabelValueInSelector;
  if (labelSelector) validateSelector(errors, labelSelector, path.child('labelSelector'), allow);
  if (namespaceSelector) validateSelector(errors, namespaceSelector, path.child('namespaceSelector'), allow);
  for (const name of namespaces) check(errors, validateNamespaceName(name, false), name, path, 'namespace');
  validateMatchLabelKeysAndMismatchLabelKeys(errors, term.matchLabelKeys, term.mismatchLabelKeys, labelSelector, path);
  if (topologyKey === '') errors.push(required(path.child('topologyKey'), 'can not be empty'));
  check(errors, isQualifiedName(topologyKey), topologyKey, path, 'topologyKey');
}

function validateMatchLabelKeysAndMismatchLabelKeys(
  errors: FieldError[],
  matchLabelKeys: readonly string[] = [],
  mismatchLabelKeys: readonly string[] = [],
  selector: LabelSelector | undefined,
  path: Path,
): void {
  if (matchLabelKeys.length === 0 && mismatchLabelKeys.length === 0) return;
  for (const [field, keys] of [
    ['matchLabelKeys', matchLabelKeys],
    ['mismatchLabelKeys', mismatchLabelKeys],
  ] as const) {
    if (keys.length === 0) continue;
    if (!selector) errors.push(forbidden(path.child(field), 'must not be specified when labelSelector is not set'));
    else for (const [i, key] of keys.entries()) check(errors, isQualifiedName(key), key, path.child(field).index(i));
  }
  if (selector) {
    const selected = new Set(Object.keys(selector.matchLabels ?? {}));
    const lastOf = new Map(matchLabelKeys.map((key, i) => [key, i]));
    for (const { key = '' } of selector.matchExpressions ?? []) {
      const i = lastOf.get(key);
      // The strategy added one requirement for each key; a second one comes from the client.
      if (i !== undefined && selected.has(key)) errors.push(invalid(path.index(i), key, 'exists in both matchLabelKeys and labelSelector'));
      selected.add(key);
    }
  }
  const mismatching = new Set(mismatchLabelKeys);
  for (const [i, key] of matchLabelKeys.entries()) {
    if (mismatching.has(key))
      errors.push(invalid(path.child('matchLabelKeys').index(i), key, 'exists in both matchLabelKeys and mismatchLabelKeys'));
  }
}

/** Validates the keys by the rule of older pods, whose selectors lack them. */
function validateMatchLabelKeysInTopologySpread(
  errors: FieldError[],
  keys: readonly string[] | undefined,
  selector: LabelSelector | undefined,
  path: Path,
): void {
  if (!keys?.length) return;
  const selected = new Set([...Object.keys(selector?.matchLabels ?? {}), ...(selector?.matchExpressions ?? []).map(({ key = '' }) => key)]);
  if (!selector) errors.push(forbidden(path, 'must not be specified when labelSelector is not set'));
  for (const [i, key] of keys.entries()) {
    check(errors, isQualifiedName(key), key, path.index(i));
    if (selected.has(key)) errors.push(invalid(path.index(i), key, 'exists in both matchLabelKeys and labelSelector'));
  }
}

/** Key by which two constraints are duplicates. */
const uniquePair = ({ topologyKey = '', whenUnsatisfiable = '' }: TopologySpreadConstraint): string =>
  JSON.stringify([topologyKey, whenUnsatisfiable]);

export function validateTopologySpreadConstraints(
  errors: FieldError[],
  constraints: readonly TopologySpreadConstraint[],
  path: Path,
  options: PodOptions,
): void {
  const lastOf = new Map(constraints.map((constraint, i) => [uniquePair(constraint), i]));
  const isLast = new Set(lastOf.values());
  const visit = (found: FieldError[], constraint: TopologySpreadConstraint, i: number): void =>
    validateTopologySpreadConstraint(found, constraint, path.index(i), isLast.has(i), options);
  addErrors(errors, errorsOfEach(constraints, path, constraints, visit));
}

function validateTopologySpreadConstraint(
  errors: FieldError[],
  constraint: TopologySpreadConstraint,
  at: Path,
  isUnique: boolean,
  options: PodOptions,
): void {
  const { topologyKey = '', whenUnsatisfiable = '', minDomains, labelSelector, matchLabelKeys } = constraint;
  validatePositive(errors, constraint.maxSkew, at, 'maxSkew');
  if (topologyKey === '') errors.push(required(at.child('topologyKey'), 'can not be empty'));
  validateEnum(errors, whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway'], at, 'whenUnsatisfiable');
  if (!isUnique) errors.push(duplicate(at.child('{topologyKey, whenUnsatisfiable}'), `{${topologyKey}, ${whenUnsatisfiable}}`));
  if (minDomains !== undefined) {
    validatePositive(errors, minDomains, at, 'minDomains');
    if (whenUnsatisfiable !== 'DoNotSchedule') {
      errors.push(
        invalid(at.child('minDomains'), minDomains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`),
      );
    }
  }
  validateOptionalEnum(errors, constraint.nodeAffinityPolicy, ['Honor', 'Ignore'], at, 'nodeAffinityPolicy');
  validateOptionalEnum(errors, constraint.nodeTaintsPolicy, ['Honor', 'Ignore'], at, 'nodeTaintsPolicy');
  if (options.validatesUnmergedLabelKeys)
    validateMatchLabelKeysInTopologySpread(errors, matchLabelKeys, labelSelector, at.child('matchLabelKeys'));
  else validateMatchLabelKeysAndMismatchLabelKeys(errors, matchLabelKeys, undefined, labelSelector, at);
  if (!labelSelector) return;
  const found = validateLabelSelector(labelSelector as Selector, {}, at.child('labelSelector'));
  if (found.length > 0 && !options.allowInvalidTopologySpreadLabelSelector) addErrors(errors, found);
}

export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateTolerations(errors: FieldError[], tolerations: readonly Toleration[], path: Path, options: PodOptions): void {
  addErrorsOfEach(errors, tolerations, path, (found, toleration, at) => validateToleration(found, toleration, at, options));
}

function validateToleration(errors: FieldError[], toleration: Toleration, path: Path, options: PodOptions): void {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
  if (key !== '') {
    const wrong = isQualifiedName(key);
    if (wrong.length > 0) check(errors, wrong, key, path, 'key');
  } else if (operator !== 'Exists') {
    errors.push(
      invalid(
        path.child('operator'),
        named(operator),
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ),
    );
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    errors.push(invalid(path.child('effect'), named(effect), "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  validateTolerationValue(errors, operator, value, path, options);
  if (effect !== '' && !taintEffects.includes(effect)) errors.push(notSupported(path.child('effect'), effect, taintEffects));
}

function validateTolerationValue(errors: FieldError[], operator: string, value: string, path: Path, options: PodOptions): void {
  const at = (field: string): Path => path.child(field);
  switch (operator) {
    case 'Equal':
    case '': {
      const wrong = isValidLabelValue(value);
      if (wrong.length > 0) errors.push(invalid(at('operator'), value, wrong.join(';')));
      return;
    }
    case 'Exists':
      if (value !== '') errors.push(invalid(at('operator'), value, "value must be empty when `operator` is 'Exists'"));
      return;
    case 'Lt':
    case 'Gt':
      if (!options.allowTolerationComparison) {
        errors.push(notSupported(at('operator'), operator, ['Equal', 'Exists', 'Lt', 'Gt']));
        return;
      }
      check(errors, isDecimalInteger(value), value, at('value'));
      if (!isInt64(value))
        errors.push(
          invalid(
            at('value'),
            value,
            `strconv.ParseInt: parsing ${quote(value)}: ${/^[+-]?\d+$/.test(value) ? 'value out of range' : 'invalid syntax'}`,
          ),
        );
      return;
    default:
      errors.push(notSupported(at('operator'), operator, ['Equal', 'Exists']));
  }
}

function isInt64(text: string): boolean {
  return /^[+-]?\d{1,100}$/.test(text) && BigInt.asIntN(64, BigInt(text.replace('+', ''))) === BigInt(text.replace('+', ''));
}
