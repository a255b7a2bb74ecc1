/** Validation of limit ranges and resource quotas. Upstream: pkg/apis/core/validation. */
import type { Quantity } from '#apimachinery/api/quantity';
import { compareUtf8 } from '#apimachinery/runtime/json/json';
import { presentKeys } from '#apimachinery/runtime/wide-objects';
import {
  addErrors,
  type FieldError,
  type Path,
  duplicate,
  fieldPath,
  forbidden,
  invalid,
  required,
  named,
} from '#apimachinery/validation/field';
import { errorsOfEach } from '#apimachinery/validation/pausing';
import { isQualifiedName, nameIsDNSSubdomain } from '#apimachinery/validation/names';
import type { ResourceList } from '#kubernetes/apis/core/resource-list';
import type { LimitRange, LimitRangeItem, ResourceQuota, ResourceQuotaSpec } from '#kubernetes/schema/core_v1.gen';
import { check, fieldIsImmutable, quantityOf } from './checks.ts';
import { internalValue } from './internal.ts';
import { validateMetaAgain } from './object-meta.ts';
import {
  isOvercommitAllowed,
  isStandardQuotaResourceName,
  validateContainerResourceName,
  validateResourceList,
  validateResourceName,
  validateResourceQuotaResourceName,
} from './resources.ts';

const specPath = fieldPath('spec');
const statusPath = fieldPath('status');
const limitTypes = ['Pod', 'Container', 'PersistentVolumeClaim'];
const maxMilliValue = 9_223_372_036_854_775n;

export function validateLimitRange({ spec }: LimitRange): FieldError[] {
  const errors: FieldError[] = [];
  const types = new Set<string>();
  for (const [i, item] of (spec?.limits ?? []).entries()) {
    const { type = '' } = item;
    const path = specPath.child('limits').index(i);
    const wrong = isQualifiedName(type);
    check(errors, wrong, named(type), path, 'type');
    if (wrong.length === 0 && !type.includes('/') && !limitTypes.includes(type)) {
      errors.push(invalid(path.child('type'), named(type), 'must be a standard limit type or fully qualified'));
    }
    if (types.has(type)) errors.push(duplicate(path.child('type'), named(type)));
    types.add(type);
    validateLimitRangeItem(errors, item, type, path);
  }
  return errors;
}

export function validateLimitRangeUpdate(limitRange: LimitRange): FieldError[] {
  const errors: FieldError[] = [];
  validateMetaAgain(errors, limitRange.metadata, nameIsDNSSubdomain);
  addErrors(errors, validateLimitRange(limitRange));
  return errors;
}

function validateLimitRangeItem(errors: FieldError[], item: LimitRangeItem, type: string, path: Path): void {
  const names = new Set<string>();
  const validateNames = (field: keyof LimitRangeItem & ('max' | 'min' | 'default' | 'defaultRequest' | 'maxLimitRequestRatio')): void => {
    const list = item[field];
    if (!list) return;
    const place = path.child(field);
    const keys = presentKeys(list);
    const validateKey = type === 'Pod' || type === 'Container' ? validateContainerResourceName : validateResourceName;
    addErrors(
      errors,
      errorsOfEach(list, place, keys, (found, name) => void validateKey(found, name, () => place.key(name))),
    );
    for (const name of keys) names.add(name);
  };
  validateNames('max');
  validateNames('min');
  for (const field of ['default', 'defaultRequest'] as const) {
    if (type !== 'Pod') validateNames(field);
    else if (item[field]) errors.push(forbidden(path.child(field), "may not be specified when `type` is 'Pod'"));
  }
  if (type === 'PersistentVolumeClaim' && item.min?.['storage'] === undefined && item.max?.['storage'] === undefined) {
    errors.push(required(path.child('limits'), 'either minimum or maximum storage value is required, but neither was provided'));
  }
  validateNames('maxLimitRequestRatio');
  addErrors(
    errors,
    errorsOfEach(item, path, [...names], (found, name) => validateLimits(found, name, item, type, path)),
  );
}

/** Validates minimum <= default request <= default limit <= maximum, and a ratio that these allow. */
function validateLimits(errors: FieldError[], name: string, item: LimitRangeItem, type: string, path: Path): void {
  const amount = (list: ResourceList | undefined): Quantity | undefined =>
    list && Object.hasOwn(list, name) ? quantityOf(list[name]!) : undefined;
  const min = amount(item.min);
  const max = amount(item.max);
  const limit = type === 'Pod' ? undefined : amount(item.default);
  const request = type === 'Pod' ? undefined : amount(item.defaultRequest);
  const ratio = amount(item.maxLimitRequestRatio);
  const isMore = (a: Quantity | undefined, b: Quantity | undefined): boolean => a !== undefined && b !== undefined && a.compare(b) > 0;
  const report = (field: string, value: Quantity, detail: string): void => {
    errors.push(invalid(path.child(field).key(name), value.toString(), detail));
  };
  if (isMore(min, max)) report('min', min!, `min value ${min} is greater than max value ${max}`);
  if (isMore(min, request)) report('defaultRequest', request!, `min value ${min} is greater than default request value ${request}`);
  if (isMore(request, max)) report('defaultRequest', request!, `default request value ${request} is greater than max value ${max}`);
  if (isMore(request, limit))
    report('defaultRequest', request!, `default request value ${request} is greater than default limit value ${limit}`);
  if (isMore(min, limit)) report('default', min!, `min value ${min} is greater than default value ${limit}`);
  if (isMore(limit, max)) report('default', max!, `default value ${limit} is greater than max value ${max}`);
  if (ratio && ratio.compare(quantityOf('1')) < 0) report('maxLimitRequestRatio', ratio, `ratio ${ratio} is less than 1`);
  if (ratio && min && max) {
    const isSmall = [ratio, min, max].every((quantity) => quantity.value() < maxMilliValue);
    const number = (quantity: Quantity): number => Number(isSmall ? quantity.milliValue() : quantity.value());
    const most = number(max) / number(min);
    if ((isSmall ? number(ratio) / 1000 : number(ratio)) > most)
      report('maxLimitRequestRatio', ratio, `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`);
  }
  if (limit && request && !isOvercommitAllowed(name) && !limit.equals(request)) {
    report('defaultRequest', request, `default value ${limit} must equal to defaultRequest value ${request} in ${name}`);
  }
}

const podScopes = ['Terminating', 'NotTerminating', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity'];
const existsScopes = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity'];
const scopes: ReadonlySet<string> = new Set([...podScopes, 'BestEffort', 'VolumeAttributesClass']);
const podCompute: ReadonlySet<string> = new Set(['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory']);
const conflictingScopes = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

function isScopeValidForResource(scope: string, name: string): boolean {
  if (podScopes.includes(scope)) return name === 'pods' || podCompute.has(name);
  if (scope === 'BestEffort') return name === 'pods';
  return scope !== 'VolumeAttributesClass' || name === 'persistentvolumeclaims' || name === 'requests.storage';
}

function validateSpec(errors: FieldError[], spec: ResourceQuotaSpec): void {
  validateResourceList(errors, spec.hard, validateResourceQuotaResourceName, specPath.child('hard'));
  const limited = Object.keys(spec.hard ?? {})
    .filter(isStandardQuotaResourceName)
    .sort(compareUtf8);
  if (spec.scopes?.length) {
    const path = specPath.child('scopes');
    for (const scope of spec.scopes) {
      if (!scopes.has(scope)) errors.push(invalid(path, spec.scopes, 'unsupported scope'));
      for (const name of limited)
        if (!isScopeValidForResource(scope, name)) errors.push(invalid(path, spec.scopes, 'unsupported scope applied to resource'));
    }
    validateConflicts(errors, spec.scopes, spec.scopes, path);
  }
  if (spec.scopeSelector) validateScopeSelector(errors, spec, limited);
}

function validateConflicts(errors: FieldError[], used: readonly string[], shown: readonly string[] | undefined, path: Path): void {
  for (const pair of conflictingScopes)
    if (pair.every((scope) => used.includes(scope))) errors.push(invalid(path, shown, 'conflicting scopes'));
}

function validateScopeSelector(
  errors: FieldError[],
  { scopeSelector, scopes: ofSpec }: ResourceQuotaSpec,
  limited: readonly string[],
): void {
  const path = specPath.child('scopeSelector', 'matchExpressions');
  const expressions = scopeSelector?.matchExpressions ?? [];
  for (const { scopeName = '', operator = '', values = [] } of expressions) {
    if (!scopes.has(scopeName)) errors.push(invalid(path.child('scopeName'), named(scopeName), 'unsupported scope'));
    for (const name of limited) {
      if (!isScopeValidForResource(scopeName, name))
        errors.push(invalid(path, internalValue('ScopeSelector', scopeSelector), 'unsupported scope applied to resource'));
    }
    if (existsScopes.includes(scopeName) && operator !== 'Exists') {
      errors.push(
        invalid(
          path.child('operator'),
          operator,
          "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
        ),
      );
    }
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0)
        errors.push(required(path.child('values'), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"));
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0)
        errors.push(
          invalid(path.child('values'), values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"),
        );
    } else errors.push(invalid(path.child('operator'), named(operator), 'not a valid selector operator'));
  }
  validateConflicts(
    errors,
    expressions.map(({ scopeName = '' }) => scopeName),
    ofSpec,
    path,
  );
}

export function validateResourceQuota(quota: ResourceQuota): FieldError[] {
  const errors: FieldError[] = [];
  validateSpec(errors, quota.spec ?? {});
  addErrors(errors, validateResourceQuotaStatus(quota));
  return errors;
}

export function validateResourceQuotaUpdate({ spec = {} }: ResourceQuota, old: ResourceQuota): FieldError[] {
  const errors: FieldError[] = [];
  validateSpec(errors, spec);
  const before = new Set(old.spec?.scopes);
  const now = new Set(spec.scopes);
  if (before.size !== now.size || [...now].some((scope) => !before.has(scope)))
    errors.push(invalid(specPath.child('scopes'), spec.scopes, fieldIsImmutable));
  return errors;
}

export function validateResourceQuotaStatus({ status }: ResourceQuota): FieldError[] {
  const errors: FieldError[] = [];
  validateResourceList(errors, status?.hard, validateResourceQuotaResourceName, statusPath.child('hard'));
  validateResourceList(errors, status?.used, validateResourceQuotaResourceName, statusPath.child('used'));
  return errors;
}

/** Warnings about a resource quota. Upstream: pkg/registry/core/resourcequota/strategy.go. */
export function resourceQuotaWarnings({ spec }: ResourceQuota): string[] {
  const warnings: string[] = [];
  const hard = spec?.hard ?? {};
  for (const name of ['cpu', 'memory', 'storage', 'ephemeral-storage']) {
    const bare = name === 'cpu' || name === 'memory' ? name : undefined;
    const requestName =
      hard[`requests.${name}`] === undefined && bare !== undefined && hard[bare] !== undefined ? bare : `requests.${name}`;
    const request = hard[requestName];
    const limit = hard[`limits.${name}`];
    if (request === undefined || limit === undefined || quantityOf(request).compare(quantityOf(limit)) <= 0) continue;
    warnings.push(`ResourceQuota ${requestName} (${request}) should be less than limits.${name} (${limit})`);
  }
  return warnings;
}
