import type { FieldsV1, KubeObject, ManagedFieldsEntry } from '#apimachinery/meta/types';
import { encodeString } from '#apimachinery/runtime/json/json';
import { quote } from '#apimachinery/runtime/quote';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { FieldSet, FieldSetError, leaf } from './field-set.ts';

/** The fields of one manager, in the version in which it wrote them. */
export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** Error for malformed managedFields. */
export class ManagedFieldsError extends Error {
  override readonly name = 'ManagedFieldsError';
}

/**
 * Returns the identity of a manager: name, operation, subresource, and for updates the version. It is the JSON of upstream's
 * BuildManagerIdentifier, which is the sort key of conflicts.
 */
export function managerIdentifier({ manager, operation, apiVersion, subresource }: Omit<Manager, 'time' | 'fields'>): string {
  const parts: string[] = [];
  if (manager) parts.push(`"manager":${encodeString(manager)}`);
  parts.push(`"operation":"${operation}"`);
  if (operation === 'Update' && apiVersion) parts.push(`"apiVersion":${encodeString(apiVersion)}`);
  if (subresource) parts.push(`"subresource":${encodeString(subresource)}`);
  return `{${parts.join(',')}}`;
}

/** Formats a manager for a conflict: `"kubectl" using apps/v1`, or `"applier"`. */
export function printManager({ manager, operation, apiVersion, subresource }: Omit<Manager, 'time' | 'fields'>): string {
  let text = quote(manager);
  if (subresource) text += ` with subresource ${quote(subresource)}`;
  return operation === 'Update' ? `${text} using ${apiVersion}` : text;
}

/**
 * Decodes entries in order; the later of two entries of a manager wins. `encodeManagers` wrote their fieldsV1, which are therefore not
 * parsed. Throws ManagedFieldsError.
 */
export function decodeManagers(entries: readonly ManagedFieldsEntry[] | undefined): Manager[] {
  if (!entries) return [];
  const managers: Manager[] = [];
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i]!;
    checkEntry(entry, i);
    managers.push(managerOf(entry, FieldSet.fromCanonical(entry.fieldsV1 ?? leaf)));
  }
  return lastOfEach(managers);
}

/** Like `decodeManagers` for entries of a client, whose fieldsV1 may be anything; yields to the event loop. */
export function* decodeForeignManagersSteps(entries: readonly ManagedFieldsEntry[]): Steps<Manager[]> {
  const managers: Manager[] = [];
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i]!;
    checkEntry(entry, i);
    managers.push(managerOf(entry, yield* foreignFieldsSteps(entry.fieldsV1 ?? leaf)));
    yield;
  }
  return lastOfEach(managers);
}

function lastOfEach(managers: Manager[]): Manager[] {
  return hasDuplicates(managers) ? [...new Map(managers.map((manager) => [managerIdentifier(manager), manager])).values()] : managers;
}

function checkEntry({ operation, apiVersion, fieldsType }: ManagedFieldsEntry, index: number): void {
  if (operation !== 'Apply' && operation !== 'Update') throw new ManagedFieldsError('operation must be `Apply` or `Update`');
  if (!apiVersion) throw new ManagedFieldsError('apiVersion must not be empty');
  if (fieldsType !== 'FieldsV1') {
    throw new ManagedFieldsError(
      fieldsType
        ? `invalid fieldsType ${quote(fieldsType)} in managed fields entry ${index}`
        : `missing fieldsType in managed fields entry ${index}`,
    );
  }
}

/** Returns the manager of a checked entry. */
function managerOf({ manager = '', operation, apiVersion, subresource = '', time }: ManagedFieldsEntry, fields: FieldSet): Manager {
  return { manager, operation: operation as Manager['operation'], apiVersion: apiVersion as string, subresource, time, fields };
}

function* foreignFieldsSteps(fields: FieldsV1): Steps<FieldSet> {
  try {
    return yield* FieldSet.fromFieldsV1Steps(fields);
  } catch (cause) {
    if (cause instanceof FieldSetError)
      throw new ManagedFieldsError(`error decoding versioned set: error decoding set: ${cause.message}`, { cause });
    throw cause;
  }
}

/** Up to this number, managers are compared pairwise, which needs no identifiers. */
const fewManagers = 16;

function hasDuplicates(managers: readonly Manager[]): boolean {
  if (managers.length > fewManagers) return new Set(managers.map(managerIdentifier)).size < managers.length;
  for (let i = 1; i < managers.length; i++) {
    for (let j = 0; j < i; j++) if (isSameManager(managers[i]!, managers[j]!)) return true;
  }
  return false;
}

export function isSameManager(a: Omit<Manager, 'time' | 'fields'>, b: Omit<Manager, 'time' | 'fields'>): boolean {
  return (
    a.manager === b.manager &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  );
}

/** Encodes the sorted entries of an object's metadata; undefined if there are none. */
export function encodeManagers(managers: readonly Manager[]): ManagedFieldsEntry[] | undefined {
  if (managers.length === 0) return undefined;
  const sorted = managers.length === 1 ? managers : managers.toSorted(compareManagers);
  return sorted.map(encodeManager);
}

function encodeManager({ manager, operation, apiVersion, time, fields, subresource }: Manager): ManagedFieldsEntry {
  const entry: ManagedFieldsEntry = manager ? { manager, operation, apiVersion } : { operation, apiVersion };
  if (time !== undefined) entry.time = time;
  entry.fieldsType = 'FieldsV1';
  entry.fieldsV1 = fields.toFieldsV1();
  if (subresource) entry.subresource = subresource;
  return entry;
}

/** Compares by operation, then by time. Times are RFC 3339 in UTC and whole seconds, which sort as text. */
function compareManagers(a: Manager, b: Manager): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? '', b.time ?? '') ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

export const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** True if the client resets managedFields: an empty list, or a list of one empty entry. */
export function isResetManagedFields(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (!entries) return false;
  return entries.length === 0 || (entries.length === 1 && Object.values(entries[0]!).every((value) => value === undefined || value === ''));
}

/** Validates managedFields from outside, such as from a mutating webhook. Throws ManagedFieldsError. */
export function validateManagedFields(entries: readonly ManagedFieldsEntry[] | undefined): void {
  if (entries) atOnce(decodeForeignManagersSteps(entries));
}

/** Returns the object with these managedFields (or none); unchanged parts are shared. */
export function withManagedFields<T extends KubeObject>(object: T, entries: ManagedFieldsEntry[] | undefined): T {
  if (object.metadata.managedFields === entries) return object;
  const metadata = { ...object.metadata };
  if (entries) metadata.managedFields = entries;
  else delete metadata.managedFields;
  return { ...object, metadata };
}
