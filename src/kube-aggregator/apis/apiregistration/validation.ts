import { Buffer } from 'node:buffer';
import { quote } from '#apimachinery/runtime/quote';
import { type FieldError, fieldPath, invalid, notSupported, type Path, required } from '#apimachinery/validation/field';
import {
  isDNS1035Label,
  isDNS1123Subdomain,
  isValidPathSegmentName,
  isValidPortNum,
  type ValidateNameFunc,
} from '#apimachinery/validation/names';
import type { APIService, APIServiceSpec, ServiceReference } from '#kube-aggregator/schema/apiregistration_v1.gen';

const maxGroupPriority = 20_000;
const maxVersionPriority = 1_000;
const conditionStatuses = ['True', 'False', 'Unknown'];

/** Validates the name of an APIService: a path segment that matches version and group of its spec. */
export function apiServiceName({ spec = {} }: APIService): ValidateNameFunc {
  const required = `${spec.version ?? ''}.${spec.group ?? ''}`;
  return (name) => {
    const problems = isValidPathSegmentName(name);
    if (problems.length > 0) return problems;
    return name === required ? [] : [`must be \`spec.version+"."+spec.group\`: ${quote(required)}`];
  };
}

/** Validates an updated APIService; of its metadata, only the names. Upstream: apiregistration/validation (ValidateAPIServiceUpdate). */
export function validateApiServiceUpdate(service: APIService): FieldError[] {
  const named = (['generateName', 'name'] as const).flatMap((field) => {
    const name = service.metadata[field];
    const problems = name ? apiServiceName(service)(name, field === 'generateName') : [];
    return problems.map((message) => invalid(fieldPath('metadata', field), name, message));
  });
  return [...named, ...validateApiService(service)];
}

/** Validates an APIService without its metadata. Upstream: apiregistration/validation (ValidateAPIService). */
export function validateApiService({ spec = {} }: APIService): FieldError[] {
  const path = fieldPath('spec');
  const { group = '', version = '', groupPriorityMinimum = 0, versionPriority = 0, service } = spec;
  const errors: FieldError[] = [];
  if (group === '' && version !== 'v1')
    errors.push(required(path.child('group'), 'only v1 may have an empty group and it better be legacy kube'));
  if (group !== '') for (const message of isDNS1123Subdomain(group)) errors.push(invalid(path.child('group'), group, message));
  for (const message of isDNS1035Label(version)) errors.push(invalid(path.child('version'), version, message));
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > maxGroupPriority) {
    errors.push(invalid(path.child('groupPriorityMinimum'), groupPriorityMinimum, 'must be positive and less than 20000'));
  }
  if (versionPriority <= 0 || versionPriority > maxVersionPriority) {
    errors.push(invalid(path.child('versionPriority'), versionPriority, 'must be positive and less than 1000'));
  }
  return [...errors, ...(service ? validateService(path, spec, service) : validateLocal(path, spec))];
}

/** Validates the conditions of a status. Upstream: ValidateAPIServiceStatus. */
export function validateApiServiceStatus({ status }: APIService): FieldError[] {
  const path = fieldPath('status', 'conditions');
  return (status?.conditions ?? []).flatMap(({ status: value = '' }, i) =>
    conditionStatuses.includes(value) ? [] : [notSupported(path.index(i).child('status'), value, conditionStatuses)],
  );
}

function validateLocal(path: Path, { caBundle = '', insecureSkipTLSVerify }: APIServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const size = Buffer.byteLength(caBundle, 'base64');
  if (size > 0) errors.push(invalid(path.child('caBundle'), `${size} bytes`, 'local APIServices may not have a caBundle'));
  if (insecureSkipTLSVerify) {
    errors.push(invalid(path.child('insecureSkipTLSVerify'), true, 'local APIServices may not have insecureSkipTLSVerify'));
  }
  return errors;
}

function validateService(path: Path, spec: APIServiceSpec, { namespace, name, port = 0 }: ServiceReference): FieldError[] {
  const at = path.child('service');
  const errors: FieldError[] = [];
  if (!namespace) errors.push(required(at.child('namespace')));
  if (!name) errors.push(required(at.child('name')));
  const portErrors = isValidPortNum(port);
  if (portErrors.length > 0) errors.push(invalid(at.child('port'), port, `port is not valid: ${portErrors.join(', ')}`));
  if (spec.insecureSkipTLSVerify && spec.caBundle) {
    errors.push(invalid(path.child('insecureSkipTLSVerify'), true, 'may not be true if caBundle is present'));
  }
  return errors;
}
