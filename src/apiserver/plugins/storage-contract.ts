import { Buffer } from 'node:buffer';
import { UnavailableError } from '#apiserver/storage/errors';
import { compareKeys } from '#apiserver/storage/key';
import type { ListOptions, ListResult, Revision, StorageRecord } from '#apiserver/storage/storage';

/** A storage backend broke its contract. The message continues a sentence about the backend. */
export class ContractError extends Error {}

/** A record whose value is checked when it is read, because stores may read or decrypt it only then. */
class CheckedRecord implements StorageRecord {
  constructor(
    readonly key: string,
    readonly revision: Revision,
    readonly createRevision: Revision,
    private readonly found: StorageRecord,
  ) {}

  get value(): Buffer {
    const { value } = this.found;
    if (!Buffer.isBuffer(value)) throw new UnavailableError(`storage: the value of ${this.key} is no Buffer`);
    return value;
  }
}

/** Returns an object of a store. Throws a ContractError for another value. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new ContractError('returned no object');
  return value as Readonly<Record<string, unknown>>;
}

/**
 * Returns a record whose value is checked when it is read. Throws a ContractError unless it has the key, and no revision above `atMost`.
 */
export function checkedRecord(found: unknown, key: string, atMost: Revision | undefined): StorageRecord {
  const record = objectOf(found) as unknown as StorageRecord;
  if (record.key !== key) throw new ContractError(`returned a record of another key than ${key}`);
  const revision = checkedRevision(record.revision);
  const createRevision = checkedRevision(record.createRevision);
  if (createRevision > revision) throw new ContractError(`returned a record that was created after its revision ${revision}`);
  if (atMost !== undefined && revision > atMost) throw new ContractError(`returned revision ${revision} of a state at revision ${atMost}`);
  return new CheckedRecord(key, revision, createRevision, record);
}

/** Returns the result of `list`. Throws a ContractError unless it is sorted, within the prefix and the limit, and at the revision. */
export function checkedList(found: unknown, prefix: string, { revision: at, limit = 0, from = prefix }: ListOptions): ListResult {
  const { records, revision: read, more, count } = objectOf(found);
  const revision = checkedRevision(read);
  if (at !== undefined && revision !== at) throw new ContractError(`listed revision ${revision} instead of ${at}`);
  if (!Array.isArray(records) || typeof more !== 'boolean') throw new ContractError('returned no list');
  if (limit > 0 && records.length > limit) throw new ContractError(`returned more than ${limit} records`);
  let last = '';
  const checked = records.map((record: unknown) => {
    const { key } = objectOf(record);
    if (typeof key !== 'string' || !key.startsWith(prefix) || compareKeys(key, from) < 0)
      throw new ContractError(`listed a record outside of ${prefix}`);
    if (last !== '' && compareKeys(key, last) <= 0) throw new ContractError('listed records out of order');
    last = key;
    return checkedRecord(record, key, revision);
  });
  if (more && checked.length === 0) throw new ContractError('returned an empty page of a list that has more');
  return { records: checked, revision, more, count: Math.max(checkedCount(count), checked.length) };
}

/** Returns a positive integer. Throws a ContractError for another value. */
export function checkedRevision(value: unknown): Revision {
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw new ContractError('returned a revision that is not a positive integer');
  return value as Revision;
}

/** Returns a number that is not negative. Throws a ContractError for another value. */
export function checkedCount(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new ContractError('returned no number');
  return value as number;
}
