/** Validation of config maps and secrets. Upstream: pkg/apis/core/validation. */
import { parseJson } from '#apimachinery/runtime/json/json';
import { keysOf } from '#apimachinery/runtime/wide-objects';
import {
  addError,
  addErrors,
  type FieldError,
  type Path,
  fieldPath,
  invalid,
  required,
  tooLong,
  named,
} from '#apimachinery/validation/field';
import { checkEach } from '#apimachinery/validation/pausing';
import { isConfigMapKey, nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { validateImmutable } from '#kubernetes/apis/core/immutable';
import type { ConfigMap, Secret } from '#kubernetes/schema/core_v1.gen';
import { byteLength, fieldIsImmutable } from './checks.ts';
import { validateMetaAgain } from './object-meta.ts';

const dataPath = fieldPath('data');
const maxSize = 1024 * 1024;

/** Returns the number of bytes that standard base64 encodes. */
function decodedLength(base64: string): number {
  return (base64.length / 4) * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);
}

/** Validates the keys, and the total size of the values. */
function checkData(
  data: Readonly<Record<string, string>>,
  path: Path,
  lengthOf: (value: string) => number,
  checkFurther?: (errors: FieldError[], key: string) => void,
): { readonly errors: FieldError[]; readonly bytes: number } {
  const { errors, state } = checkEach(data, path, keysOf(data), newTotal, (found, key, _, total) => {
    const value = data[key];
    if (value === undefined) return;
    for (const message of isConfigMapKey(key)) addError(found, invalid(path.key(key), key, message));
    checkFurther?.(found, key);
    total.bytes += lengthOf(value);
  });
  return { errors, bytes: state.bytes };
}

const newTotal = () => ({ bytes: 0 });

const noData: Readonly<Record<string, string>> = {};

export function validateConfigMap({ data = noData, binaryData = noData }: ConfigMap): FieldError[] {
  const texts = checkData(data, dataPath, byteLength, (errors, key) => {
    if (Object.hasOwn(binaryData, key)) errors.push(invalid(dataPath.key(key), key, 'duplicate of key present in binaryData'));
  });
  const binaries = checkData(binaryData, fieldPath('binaryData'), decodedLength);
  const isTooLong = texts.bytes + binaries.bytes > maxSize;
  return [...texts.errors, ...binaries.errors, ...(isTooLong ? [tooLong(fieldPath(''), '', maxSize)] : [])];
}

export function validateConfigMapUpdate(configMap: ConfigMap, old: ConfigMap): FieldError[] {
  const errors = old.immutable ? validateImmutable(configMap, old, 'data', 'binaryData') : [];
  validateMetaAgain(errors, configMap.metadata, nameIsDNSSubdomain);
  addErrors(errors, validateConfigMap(configMap));
  return errors;
}

export function validateSecret({ metadata, type, data = {} }: Secret): FieldError[] {
  const { errors: found, bytes } = checkData(data, dataPath, decodedLength);
  const errors = [...found];
  if (bytes > maxSize) errors.push(tooLong(dataPath, '', maxSize));
  const has = (key: string): boolean => Object.hasOwn(data, key);
  const demand = (...keys: string[]): void => {
    for (const key of keys) if (!has(key)) errors.push(required(dataPath.key(key)));
  };
  switch (type) {
    case 'kubernetes.io/service-account-token': {
      const path = fieldPath('metadata', 'annotations').key('kubernetes.io/service-account.name');
      if (!metadata.annotations?.['kubernetes.io/service-account.name']) errors.push(required(path));
      break;
    }
    case 'kubernetes.io/dockercfg':
      validateDockerConfig(errors, data, '.dockercfg');
      break;
    case 'kubernetes.io/dockerconfigjson':
      validateDockerConfig(errors, data, '.dockerconfigjson');
      break;
    case 'kubernetes.io/basic-auth':
      if (!has('username') && !has('password')) demand('username', 'password');
      break;
    case 'kubernetes.io/ssh-auth':
      validateRequiredKey(errors, data['ssh-privatekey'], dataPath.key('ssh-privatekey'));
      break;
    case 'kubernetes.io/tls':
      demand('tls.crt', 'tls.key');
      break;
    default:
  }
  return errors;
}

function validateRequiredKey(errors: FieldError[], value: string | undefined, path: Path): void {
  if (!value) errors.push(required(path));
}

/** Requires a JSON object, in base64, under the key. */
function validateDockerConfig(errors: FieldError[], data: Readonly<Record<string, string>>, key: string): void {
  if (!Object.hasOwn(data, key)) {
    errors.push(required(dataPath.key(key)));
    return;
  }
  const problem = objectError(Buffer.from(data[key]!, 'base64'));
  if (problem !== undefined) errors.push(invalid(dataPath.key(key), '<secret contents redacted>', problem));
}

function objectError(bytes: Buffer): string | undefined {
  try {
    const { value } = parseJson(bytes);
    if (value === null || (typeof value === 'object' && !Array.isArray(value))) return undefined;
    const word = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    return `json: cannot unmarshal ${word} into Go value of type map[string]interface {}`;
  } catch (error) {
    return (error as Error).message;
  }
}

export function validateSecretUpdate(secret: Secret, old: Secret): FieldError[] {
  const errors: FieldError[] = [];
  if ((secret.type ?? '') !== (old.type ?? '')) errors.push(invalid(fieldPath('type'), named(secret.type ?? ''), fieldIsImmutable));
  if (old.immutable) addErrors(errors, validateImmutable(secret, old, 'data'));
  validateMetaAgain(errors, secret.metadata, nameIsDNSSubdomain);
  addErrors(errors, validateSecret(secret));
  return errors;
}
