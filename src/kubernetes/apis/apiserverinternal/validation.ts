/** Validation of storage versions. Upstream: pkg/apis/apiserverinternal/validation/validation.go. */
import { duplicate, type FieldError, fieldPath, invalid, type Path, required } from '#apimachinery/validation/field';
import { emptyError, isDNS1035Label, isDNS1123Subdomain, isQualifiedName, regexError } from '#apimachinery/validation/names';
import type {
  ServerStorageVersion,
  StorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from '#kubernetes/schema/apiserverinternal_v1alpha1.gen';

const statusPath = fieldPath('status');

/** Returns the errors of a name of the form `<group>.<resource>`. */
export function storageVersionNameErrors(name: string): readonly string[] {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return ['name must be in the form of <group>.<resource>'];
  return [
    ...isDNS1123Subdomain(name.slice(0, dot)).map((message) => `the group segment ${message}`),
    ...isDNS1035Label(name.slice(dot + 1)).map((message) => `the resource segment ${message}`),
  ];
}

export function validateStorageVersion({ status = {} }: StorageVersion): FieldError[] {
  const errors: FieldError[] = [];
  const ids = new Set<string>();
  for (const [i, server] of (status.storageVersions ?? []).entries()) {
    const path = statusPath.child('storageVersions').index(i);
    const id = server.apiServerID ?? '';
    if (ids.has(id)) errors.push(duplicate(path.child('apiServerID'), id));
    ids.add(id);
    validateServer(errors, server, path);
  }
  validateCommonVersion(errors, status);
  validateConditions(errors, status.conditions ?? []);
  return errors;
}

function validateServer(errors: FieldError[], server: ServerStorageVersion, path: Path): void {
  const { apiServerID = '', encodingVersion = '', decodableVersions = [], servedVersions = [] } = server;
  for (const message of isDNS1123Subdomain(apiServerID)) errors.push(invalid(path.child('apiServerID'), apiServerID, message));
  validateApiVersion(errors, encodingVersion, path.child('encodingVersion'));
  for (const [i, version] of decodableVersions.entries()) validateApiVersion(errors, version, path.child('decodableVersions').index(i));
  if (!decodableVersions.includes(encodingVersion)) {
    const detail = `decodableVersions must include encodingVersion ${encodingVersion}`;
    errors.push(invalid(path.child('decodableVersions'), server.decodableVersions, detail));
  }
  for (const [i, version] of servedVersions.entries()) {
    const place = path.child('servedVersions').index(i);
    validateApiVersion(errors, version, place);
    if (!decodableVersions.includes(version)) {
      const detail = `individual served version : ${version} must be included in decodableVersions : [${decodableVersions.join(' ')}]`;
      errors.push(invalid(place, version, detail));
    }
  }
}

/** Checks that the common encoding version is the one on which all servers agree. */
function validateCommonVersion(errors: FieldError[], { storageVersions = [], commonEncodingVersion: stated }: StorageVersionStatus): void {
  const [first, ...others] = storageVersions.map(({ encodingVersion = '' }) => encodingVersion);
  const common = others.every((version) => version === first) ? first : undefined;
  if (common === stated) return;
  const disagreement =
    'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet';
  const agreement = stated === undefined ? `the common encoding version is ${common}` : `the actual common encoding version is ${common}`;
  errors.push(invalid(statusPath.child('commonEncodingVersion'), stated, common === undefined ? disagreement : agreement));
}

/** Validates the conditions. As upstream, the paths do not contain `conditions`. */
function validateConditions(errors: FieldError[], conditions: readonly StorageVersionCondition[]): void {
  const seen = new Map<string, number>();
  for (const [i, { type = '', status = '', reason, message }] of conditions.entries()) {
    const path = statusPath.index(i);
    const first = seen.get(type);
    if (first !== undefined) {
      const detail = `the type of the condition is not unique, it also appears in conditions[${first}]`;
      errors.push(invalid(path.child('type'), type, detail));
    }
    seen.set(type, i);
    for (const wrong of isQualifiedName(type)) errors.push(invalid(path.child('type'), type, wrong));
    for (const wrong of isQualifiedName(status)) errors.push(invalid(path.child('status'), status, wrong));
    if (!reason) errors.push(required(path.child('reason')));
    if (!message) errors.push(required(path.child('message')));
  }
}

function validateApiVersion(errors: FieldError[], apiVersion: string, path: Path): void {
  const wrong = apiVersionErrors(apiVersion);
  if (wrong.length > 0) errors.push(invalid(path, apiVersion, wrong.join(',')));
}

/** Returns the errors of a version with an optional group before it. */
function apiVersionErrors(apiVersion: string): string[] {
  const parts = apiVersion.split('/');
  if (parts.length > 2) {
    const label =
      "a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
    const rule = regexError(label, '[a-z]([-a-z0-9]*[a-z0-9])?', 'my-name', 'abc-123');
    return [`an apiVersion is ${rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')`];
  }
  const [version = '', group] = parts.reverse();
  return [
    ...(group === undefined ? [] : partErrors('group', group, isDNS1123Subdomain)),
    ...partErrors('version', version, isDNS1035Label),
  ];
}

function partErrors(part: string, text: string, rule: (text: string) => readonly string[]): string[] {
  return (text === '' ? [emptyError()] : rule(text)).map((message) => `${part} part: ${message}`);
}
