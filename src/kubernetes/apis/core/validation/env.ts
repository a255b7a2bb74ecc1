/** Validation of environment variables and field references. Upstream: pkg/apis/core/validation, ValidateEnv and ValidateEnvFrom. */
import { addError, type FieldError, invalid, notSupportedText, type Path, required } from '#apimachinery/validation/field';
import { isConfigMapKey, isRelaxedEnvVarName, nameIsDNSSubdomain } from '#apimachinery/validation/names';
import type {
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  FileKeySelector,
  ObjectFieldSelector,
  ResourceFieldSelector,
} from '#kubernetes/schema/core_v1.gen';
import { check, quantityOf, validateDNS1123Label, validateQualifiedName, validateRequired } from './checks.ts';
import { validatePathNoBacksteps } from './paths.ts';
import type { PodOptions } from './pod-options.ts';

export function validateEnv(errors: FieldError[], vars: readonly EnvVar[], path: Path, options: PodOptions): void {
  for (let i = 0; i < vars.length; i++) {
    const { name, value, valueFrom } = vars[i]!;
    if (!name) errors.push(required(path.index(i).child('name')));
    else if (!isPlainEnvName(name)) check(errors, isRelaxedEnvVarName(name), name, path.index(i), 'name');
    if (valueFrom) validateValueFrom(errors, valueFrom, value, path.index(i).child('valueFrom'), options);
  }
}

/** Fast path: true for nearly all valid names; the full rule runs for the others. */
function isPlainEnvName(name: string): boolean {
  return /^\w+$/.test(name);
}

const oneValueSource = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
/** The message without the gate EnvFiles. */
const oneOldValueSource = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';

function validateValueFrom(errors: FieldError[], source: EnvVarSource, value: string | undefined, path: Path, options: PodOptions): void {
  let count = 0;
  if (source.fieldRef) {
    count++;
    validateObjectFieldSelector(errors, source.fieldRef, envFields, path.child('fieldRef'));
  }
  if (source.resourceFieldRef) {
    count++;
    validateContainerResourceFieldSelector(errors, source.resourceFieldRef, path.child('resourceFieldRef'), false);
  }
  if (source.configMapKeyRef) {
    count++;
    validateKeySelector(errors, source.configMapKeyRef, path, 'configMapKeyRef');
  }
  if (source.secretKeyRef) {
    count++;
    validateKeySelector(errors, source.secretKeyRef, path, 'secretKeyRef');
  }
  if (source.fileKeyRef) {
    count++;
    validateFileKeySelector(errors, source.fileKeyRef, path.child('fileKeyRef'));
  }
  if (count === 0) errors.push(invalid(path, '', options.allowFileKeyRef ? oneValueSource : oneOldValueSource));
  else if (value) errors.push(invalid(path, '', 'may not be specified when `value` is not empty'));
  else if (count > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
}

const envFields: ReadonlySet<string> = new Set([
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);
/** Pod fields that references may name; some are restricted to certain places. */
const podFields: ReadonlySet<string> = new Set([
  ...envFields,
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);
/** Matches `metadata.labels['app']`. */
const subscripted = /^(.+?)\['(.*)'\]$/s;

export function validateObjectFieldSelector(
  errors: FieldError[],
  { apiVersion, fieldPath }: ObjectFieldSelector,
  fields: ReadonlySet<string>,
  path: Path,
): void {
  if (!validateRequired(errors, apiVersion, path, 'apiVersion') || !validateRequired(errors, fieldPath, path, 'fieldPath')) return;
  const refuse = (problem: string): void => {
    errors.push(invalid(path.child('fieldPath'), fieldPath, `error converting fieldPath: ${problem}`));
  };
  if (apiVersion !== 'v1') return refuse(`unsupported pod version: ${apiVersion}`);
  const [, map, key = ''] = (fieldPath.endsWith("']") && subscripted.exec(fieldPath)) || [];
  if (map === undefined) {
    const field = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath;
    if (!podFields.has(field)) refuse(`field label not supported: ${fieldPath}`);
    else if (!fields.has(field)) errors.push(notSupportedText(path.child('fieldPath'), field, [...fields].sort()));
  } else if (map === 'metadata.annotations') {
    validateQualifiedName(errors, key.toLowerCase(), path);
  } else if (map === 'metadata.labels') {
    validateQualifiedName(errors, key, path);
  } else {
    refuse(`field label does not support subscript: ${fieldPath}`);
  }
}

const resourceFields = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const byteDivisors: ReadonlySet<string> = new Set(['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']);
const cpuDivisors: ReadonlySet<string> = new Set(['1m', '1']);

const isHugePages = (resource: string) => resource.startsWith('limits.hugepages-') || resource.startsWith('requests.hugepages-');

/** Validates a resource reference; in a volume it must name the container. */
export function validateContainerResourceFieldSelector(
  errors: FieldError[],
  selector: ResourceFieldSelector,
  path: Path,
  inVolume: boolean,
): void {
  const { containerName, resource = '', divisor = '0' } = selector;
  if (inVolume && !containerName) errors.push(required(path.child('containerName')));
  else if (resource === '') errors.push(required(path.child('resource')));
  else if (!resourceFields.includes(resource) && !isHugePages(resource))
    errors.push(notSupportedText(path.child('resource'), resource, resourceFields));
  if (quantityOf(divisor).sign === 0) return;
  const kind = divisorKind(resource);
  if (!kind) return;
  const divisors = kind === 'cpu' ? cpuDivisors : byteDivisors;
  if (divisors.has(quantityOf(divisor).toString())) return;
  const values = kind === 'cpu' ? '1m and 1' : [...byteDivisors].join(', ');
  errors.push(invalid(path.child('divisor'), resource, `only divisor's values ${values} are supported with the ${kind} resource`));
}

function divisorKind(resource: string): string | undefined {
  if (isHugePages(resource)) return 'hugepages';
  switch (resource) {
    case 'limits.cpu':
    case 'requests.cpu':
      return 'cpu';
    case 'limits.memory':
    case 'requests.memory':
      return 'memory';
    case 'limits.ephemeral-storage':
    case 'requests.ephemeral-storage':
      return 'local ephemeral storage';
    default:
      return undefined;
  }
}

/** Validates a reference to a key of a config map or secret. */
function validateKeySelector(errors: FieldError[], { name = '', key }: { name?: string; key?: string }, path: Path, field: string): void {
  const wrong = nameIsDNSSubdomain(name, false);
  if (wrong.length > 0) check(errors, wrong, name, path.child(field), 'name');
  if (!key) errors.push(required(path.child(field, 'key')));
  else check(errors, isConfigMapKey(key), key, path.child(field), 'key');
}

function validateFileKeySelector(errors: FieldError[], selector: FileKeySelector, path: Path): void {
  if (validateRequired(errors, selector.key, path, 'key')) check(errors, isRelaxedEnvVarName(selector.key), selector.key, path, 'key');
  if (validateRequired(errors, selector.volumeName, path, 'volumeName'))
    validateDNS1123Label(errors, selector.volumeName, path, 'volumeName');
  if (validateRequired(errors, selector.path, path, 'path')) validatePathNoBacksteps(errors, selector.path, path, 'path');
}

export function validateEnvFrom(errors: FieldError[], vars: readonly EnvFromSource[], path: Path): void {
  for (const [i, { prefix, configMapRef, secretRef }] of vars.entries()) {
    if (prefix) check(errors, isRelaxedEnvVarName(prefix), prefix, path.index(i), 'prefix');
    if (configMapRef) validateEnvSource(errors, configMapRef.name, path.index(i).child('configMapRef'));
    if (secretRef) validateEnvSource(errors, secretRef.name, path.index(i).child('secretRef'));
    if (!configMapRef && !secretRef) addError(errors, invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
    else if (configMapRef && secretRef) addError(errors, invalid(path, '', 'may not have more than one field specified at a time'));
  }
}

function validateEnvSource(errors: FieldError[], name: string | undefined, path: Path): void {
  if (validateRequired(errors, name, path, 'name')) check(errors, nameIsDNSSubdomain(name, true), name, path, 'name');
}
