import type { Revision, StorageRecord } from './storage.ts';

/** The base of what a backend may reject with. Upstream: apiserver/pkg/storage/errors.go. */
export abstract class StorageError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

export class KeyExistsError extends StorageError {
  constructor(readonly key: string) {
    super(`storage: key ${key} exists already`);
  }
}

/** The compare-and-swap lost: `current` is what stands there now, undefined if nothing does. */
export class ConflictError extends StorageError {
  constructor(
    readonly key: string,
    readonly current: StorageRecord | undefined,
  ) {
    super(`storage: key ${key} is not at the expected revision`);
  }
}

/** The revision asked for was compacted away. */
export class CompactedError extends StorageError {
  constructor(
    readonly revision: Revision,
    readonly compactRevision: Revision,
  ) {
    super(`storage: revision ${revision} has been compacted (oldest: ${compactRevision})`);
  }
}

/** The revision asked for has not happened yet. */
export class FutureRevisionError extends StorageError {
  constructor(
    readonly revision: Revision,
    readonly currentRevision: Revision,
  ) {
    super(`storage: revision ${revision} is ahead of the store (${currentRevision})`);
  }
}

/** A key that could reach outside of its place: empty, without a leading slash, with `.` or `..` segments, or with a NUL. */
export class InvalidKeyError extends StorageError {
  constructor(readonly key: string) {
    super(`storage: ${JSON.stringify(key)} is not a valid key`);
  }
}

/** The write may or may not have happened: the connection broke or the disk failed before the answer. */
export class UnknownOutcomeError extends StorageError {}

/** The store refuses writes: the disk is full, or memory is at its limit. Reads go on. */
export class NoSpaceError extends StorageError {}

/** The store's data cannot be used; the message names the file and what is wrong. */
export class CorruptStoreError extends StorageError {}

/** One record cannot be used: its checksum is wrong, or it cannot be decrypted or decoded. Others are not concerned. */
export class CorruptRecordError extends StorageError {
  constructor(
    readonly key: string,
    readonly revision: Revision,
    reason: string,
    options?: ErrorOptions,
  ) {
    super(`storage: the record ${key} of revision ${revision} cannot be read: ${reason}`, options);
  }
}

/** What a record holds is no object of its resource: it is cut off, or of another kind. Others are not concerned. */
export class UndecodableRecordError extends StorageError {
  constructor(
    readonly key: string,
    readonly revision: Revision,
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`storage: the record ${key} of revision ${revision} cannot be decoded: ${reason}`, options);
  }
}

/** The store took no write: it cannot be reached, or has stopped after a failure. What was asked for has not happened. */
export class UnavailableError extends StorageError {}

/** Another process has the store open. */
export class LockedStoreError extends StorageError {}

/** The store was closed. */
export class ClosedError extends StorageError {
  constructor() {
    super('storage: closed');
  }
}
