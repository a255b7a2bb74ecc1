import { groupResourceString, newInternalError, newStorageReadError, type StatusError } from '#apimachinery/api/errors';
import type { GroupResource } from '#apimachinery/meta/types';
import { UndecodableRecordError } from '../errors.ts';
import type { StorageRecord } from '../storage.ts';
import type { CachedObject } from './cached-object.ts';

/** Maximum number of corrupt objects named by one error. Upstream: etcd3/store.go. */
const mostNamed = 100;

/** Returns the error of reading an unusable record. Upstream: apiserver/pkg/storage/errors.go, etcd3/corrupt_obj_deleter.go. */
export function failureOfRecord({ key }: StorageRecord, error: Error): StatusError {
  const text =
    error instanceof UndecodableRecordError
      ? corruptObject(key, error)
      : `unable to transform key ${JSON.stringify(`/registry${key}`)}: ${error.message}`;
  return newInternalError(new Error(text, { cause: error }));
}

function corruptObject(key: string, { revision, reason }: UndecodableRecordError): string {
  return `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=${revision}: ${reason}`;
}

/** Returns the cause of an error made by `failureOfRecord`. */
export function causeOf(failure: Error | undefined): Error | undefined {
  return (failure?.cause as Error | undefined)?.cause as Error | undefined;
}

/** Throws if any object is unreadable: an error that names each undecodable object, or else the error of the first. */
export function refuseUnreadable(objects: Iterable<CachedObject>, resource: GroupResource): void {
  let first: Error | undefined;
  const causes: { reason: string; message: string; field?: string }[] = [];
  for (const { key, failure } of objects) {
    if (!failure) continue;
    first ??= failure;
    const cause = causeOf(failure);
    if (!(cause instanceof UndecodableRecordError)) continue;
    if (causes.length === mostNamed) {
      causes.push({ reason: 'FieldValueTooMany', message: 'too many errors, the list is truncated' });
      break;
    }
    const path = `/registry${key}`;
    causes.push({ reason: 'UnexpectedServerResponse', message: corruptObject(path, cause), field: path });
  }
  if (!first) return;
  if (!(causeOf(first) instanceof UndecodableRecordError)) throw first;
  throw newStorageReadError(resource, `failed to read one or more ${groupResourceString(resource)} from the storage`, causes);
}
