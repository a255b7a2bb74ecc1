/** Validation of resource names and amounts. Upstream: pkg/apis/core/validation and pkg/apis/core/helper. */
import type { Quantity } from '#apimachinery/api/quantity';
import { quote } from '#apimachinery/runtime/quote';
import { presentKeys } from '#apimachinery/runtime/wide-objects';
import {
  addErrors,
  FieldError,
  type Path,
  duplicate,
  forbidden,
  invalid,
  notFound,
  notSupported,
  required,
  named,
} from '#apimachinery/validation/field';
import { checkEach, errorsOfEach } from '#apimachinery/validation/pausing';
import { isQualifiedName } from '#apimachinery/validation/names';
import {
  hugePagesPrefix,
  isHugePageResourceName,
  isNativeResource,
  isSupportedPodLevelResource,
  type ResourceList,
} from '#kubernetes/apis/core/resource-list';
import type { ResourceClaim, ResourceRequirements } from '#kubernetes/schema/core_v1.gen';
import { check, compareAmounts, isNegative, isNotInteger, isWholeAmount, quantityOf, validateDNS1123Label } from './checks.ts';
import { isHugePageValueDivisible } from './huge-pages.ts';
import type { PodOptions } from './pod-options.ts';

const containerResources: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
/** Object counts that quotas limit. */
const countedResources = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const quotaResources: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  ...countedResources,
]);
const standardResources: ReadonlySet<string> = new Set([...quotaResources, 'storage']);
const integerResources: ReadonlySet<string> = new Set(countedResources);

const isQuotaHugePages = (name: string) => isHugePageResourceName(name) || name.startsWith(`requests.${hugePagesPrefix}`);

export function isStandardQuotaResourceName(name: string): boolean {
  return quotaResources.has(name) || isQuotaHugePages(name);
}

/** True if the limit of the resource may be larger than the request. */
export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePageResourceName(name);
}

/** True for names like `example.com/gpu`: a foreign domain, and short enough for the prefix that quotas add. */
export function isExtendedResourceName(name: string): boolean {
  return !isNativeResource(name) && !name.startsWith('requests.') && isQualifiedName(`requests.${name}`).length === 0;
}

type NameRule = (errors: FieldError[], name: string, path: () => Path) => void;

/** Validates the name of any resource; returns true if it is valid. */
export function validateResourceName(errors: FieldError[], name: string, path: () => Path): boolean {
  if (standardResources.has(name)) return true;
  const wrong = isQualifiedName(name);
  if (wrong.length > 0) {
    check(errors, wrong, named(name), path());
    return false;
  }
  if (name.includes('/') || isQuotaHugePages(name)) return true;
  errors.push(invalid(path(), named(name), 'must be a standard resource type or fully qualified'));
  return false;
}

export const validateContainerResourceName: NameRule = (errors, name, path) => {
  if (containerResources.has(name)) return;
  validateResourceName(errors, name, path);
  if (!name.includes('/')) {
    if (!isHugePageResourceName(name)) errors.push(invalid(path(), named(name), 'must be a standard resource for containers'));
  } else if (!isNativeResource(name) && !isExtendedResourceName(name)) {
    errors.push(invalid(path(), named(name), "doesn't follow extended resource name standard"));
  }
};

const validatePodResourceName: NameRule = (errors, name, path) => {
  if (!validateResourceName(errors, name, path) || isSupportedPodLevelResource(name)) return;
  errors.push(notSupported(path(), name, ['cpu', 'hugepages-', 'memory']));
};

export function validateResourceQuotaResourceName(errors: FieldError[], name: string, path: () => Path): void {
  validateResourceName(errors, name, path);
  if (!name.includes('/') && !isStandardQuotaResourceName(name))
    errors.push(invalid(path(), named(name), 'must be a standard resource for quota'));
}

/** Validates an amount: not negative, and a whole number for countable resources. */
export function validateResourceQuantityValue(errors: FieldError[], name: string, amount: string, path: () => Path): void {
  const quantity = quantityOf(amount);
  if (quantity.sign < 0) errors.push(invalid(path(), quantity.toString(), isNegative));
  if (!containerResources.has(name) && (integerResources.has(name) || isExtendedResourceName(name)) && !isWholeAmount(amount)) {
    errors.push(invalid(path(), quantity.toString(), isNotInteger));
  }
}

/** Validates all names and amounts of a list, as quotas and nodes have them. */
export function validateResourceList(errors: FieldError[], list: ResourceList | undefined, rule: NameRule, path: Path): void {
  if (!list) return;
  const checked = errorsOfEach(list, path, presentKeys(list), (found, name) => {
    const at = (): Path => path.key(name);
    rule(found, name, at);
    validateResourceQuantityValue(found, name, list[name]!, at);
  });
  addErrors(errors, checked);
}

export function validatePodResourceRequirements(
  errors: FieldError[],
  requirements: ResourceRequirements,
  claims: ReadonlySet<string>,
  path: Path,
  options: PodOptions,
): void {
  validateRequirements(errors, requirements, validatePodResourceName, claims, path, options);
}

export function validateContainerResourceRequirements(
  errors: FieldError[],
  requirements: ResourceRequirements,
  claims: ReadonlySet<string>,
  path: Path,
  options: PodOptions,
): void {
  validateRequirements(errors, requirements, validateContainerResourceName, claims, path, options);
}

function validateRequirements(
  errors: FieldError[],
  requirements: ResourceRequirements,
  rule: NameRule,
  podClaims: ReadonlySet<string>,
  path: Path,
  options: PodOptions,
): void {
  const { limits, requests, claims } = requirements;
  const limited = checkRequired(errors, limits, path.child('limits'), (found, name, at, kinds) => {
    const amount = limits![name]!;
    rule(found, name, at);
    validateResourceQuantityValue(found, name, amount, at);
    if (noteKind(kinds, name)) validateHugePages(found, name, quantityOf(amount), at, options);
  });
  const requested = checkRequired(errors, requests, path.child('requests'), (found, name, at, kinds) => {
    const quantity = quantityOf(requests![name]!);
    rule(found, name, at);
    validateResourceQuantityValue(found, name, requests![name]!, at);
    if (limits !== undefined && Object.hasOwn(limits, name)) {
      const compared = compareAmounts(requests![name]!, limits[name]!);
      if (compared !== 0 && !isOvercommitAllowed(name)) {
        found.push(invalid(path.child('requests'), quantity.toString(), `must be equal to ${name} limit of ${limits[name]}`));
      } else if (compared > 0) {
        found.push(invalid(path.child('requests'), quantity.toString(), `must be less than or equal to ${name} limit of ${limits[name]}`));
      }
    } else if (!isOvercommitAllowed(name)) {
      found.push(required(path.child('limits'), 'Limit must be set for non overcommitable resources'));
    }
    if (noteKind(kinds, name)) validateHugePages(found, name, quantity, at, options);
  });
  const hugePages = limited.hugePages || requested.hugePages;
  const cpuOrMemory = limited.cpuOrMemory || requested.cpuOrMemory;
  if (hugePages && !cpuOrMemory) errors.push(forbidden(path, 'HugePages require cpu or memory'));
  if (claims) validateResourceClaimNames(errors, claims, podClaims, path.child('claims'));
}

/** Kinds of resources that occur in a container's requests. */
interface ResourceKinds {
  cpuOrMemory: boolean;
  hugePages: boolean;
}

/** Records the kind of a resource; returns true for huge pages. */
function noteKind(kinds: ResourceKinds, name: string): boolean {
  if (name === 'cpu' || name === 'memory') kinds.cpuOrMemory = true;
  else if (isHugePageResourceName(name)) return (kinds.hugePages = true);
  return false;
}

function checkRequired(
  errors: FieldError[],
  list: ResourceList | undefined,
  path: Path,
  visit: (errors: FieldError[], name: string, path: () => Path, kinds: ResourceKinds) => void,
): ResourceKinds {
  const newKinds = (): ResourceKinds => ({ cpuOrMemory: false, hugePages: false });
  if (!list) return newKinds();
  const checked = checkEach(list, path, presentKeys(list), newKinds, (found, name, _index, kinds) =>
    visit(found, name, () => path.key(name), kinds),
  );
  addErrors(errors, checked.errors);
  return checked.state;
}

function validateHugePages(errors: FieldError[], name: string, quantity: Quantity, path: () => Path, options: PodOptions): void {
  if (isHugePageValueDivisible(name, quantity) || options.allowIndivisibleHugePages) return;
  errors.push(invalid(path(), quantity.toString(), `${quantity.toString()} is not positive integer multiple of ${name}`));
}

/** Validates a container's references to claims of the pod: each once, as a whole or by requests. */
function validateResourceClaimNames(
  errors: FieldError[],
  claims: readonly ResourceClaim[],
  podClaims: ReadonlySet<string>,
  path: Path,
): void {
  const names = new Set<string>();
  for (const [i, { name, request }] of claims.entries()) {
    if (!name) {
      errors.push(required(path.index(i)));
      continue;
    }
    if (names.has(name)) {
      errors.push(duplicate(path.index(i), name));
    } else {
      if (request) validateDNS1123Label(errors, request, path.index(i), 'request');
      const key = request ? `${name}/${request}` : name;
      if (names.has(key)) errors.push(duplicate(path.index(i), key));
      else if (!request) for (const other of names) if (other.startsWith(`${name}/`)) errors.push(duplicate(path.index(i), name));
      names.add(key);
    }
    if (!podClaims.has(name)) {
      const detail = podClaims.size === 0 ? ' which is empty' : `: ${[...podClaims].sort().join(', ')}`;
      errors.push(withDetail(notFound(path.index(i), name), `must be one of the names in pod.spec.resourceClaims${detail}`));
    }
  }
}

/** Returns the error with a detail that its constructor does not accept. */
export function withDetail({ type, field, badValue }: FieldError, detail: string): FieldError {
  return new FieldError(type, field, badValue, detail);
}

/** Validates that an amount is not negative; the message shows it as a number. */
export function validateBasicResource(errors: FieldError[], amount: string, path: () => Path): boolean {
  const value = quantityOf(amount).value();
  if (value >= 0n) return true;
  errors.push(invalid(path(), value, 'must be a valid resource quantity'));
  return false;
}

/** Warns about a fractional number of bytes. */
export function warnFractionalBytes(warnings: string[], list: ResourceList | undefined, name: string, path: () => Path): void {
  const amount = list?.[name];
  if (amount === undefined || isWholeAmount(amount)) return;
  warnings.push(
    `${path().key(name).toString()}: fractional byte value ${quote(quantityOf(amount).toString())} is invalid, must be an integer`,
  );
}
