import { recognizeCopies } from '#apimachinery/runtime/class-copies';
import type { Revision, StorageRecord } from './storage.ts';

/** Base class of the errors that a backend rejects with. Upstream: apiserver/pkg/storage/errors.go. */
export abstract class StorageError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }

  static {
    recognizeCopies(StorageError);
  }
}

/** A store that cannot be used as it is. The message has the reason and the possible corrections. */
export abstract class UnusableStoreError extends StorageError {}

export class KeyExistsError extends StorageError {
  constructor(readonly key: string) {
    super(`storage: key ${key} exists already`);
  }
}

/** A failed compare-and-swap. `current` is the stored record, undefined if the key does not exist. */
export class ConflictError extends StorageError {
  constructor(
    readonly key: string,
    readonly current: StorageRecord | undefined,
  ) {
    super(`storage: key ${key} is not at the expected revision`);
  }
}

/** The requested revision has been compacted. */
export class CompactedError extends StorageError {
  constructor(
    readonly revision: Revision,
    readonly compactRevision: Revision,
  ) {
    super(`storage: revision ${revision} has been compacted (oldest: ${compactRevision})`);
  }
}

/** The requested revision is newer than the store's current revision. */
export class FutureRevisionError extends StorageError {
  constructor(
    readonly revision: Revision,
    readonly currentRevision: Revision,
  ) {
    super(`storage: revision ${revision} is ahead of the store (${currentRevision})`);
  }
}

/** A key that could escape its prefix: it is empty, lacks the leading slash, or contains `.` or `..` segments or NUL. */
export class InvalidKeyError extends StorageError {
  constructor(readonly key: string) {
    super(`storage: ${JSON.stringify(key)} is not a valid key`);
  }
}

/** A write with an unknown outcome: the connection broke or the disk failed before the response. */
export class UnknownOutcomeError extends StorageError {}

/** The store rejects writes because the disk is full or memory is at its limit. Reads still succeed. */
export class NoSpaceError extends StorageError {}

/** The store's data is unusable. The message names the file and the fault. */
export class CorruptStoreError extends UnusableStoreError {}

/** One record is unusable: its checksum is wrong, or it cannot be decrypted or decoded. Other records are unaffected. */
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

/** An event of a watch cannot be converted to the version of its readers. The watch may fail there again. */
export class UnconvertibleEventError extends StorageError {
  constructor(
    readonly revision: Revision,
    error: Error,
  ) {
    super(error.message, { cause: error });
  }
}

/** The value of a record is not an object of its resource: it is truncated or of another kind. Other records are unaffected. */
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

/** The store rejected a write without performing it: it is unreachable, or it stopped after a failure. */
export class UnavailableError extends UnusableStoreError {}

/** Another process has opened the store. */
export class LockedStoreError extends UnusableStoreError {}

/** The store has been closed. */
export class ClosedError extends StorageError {
  constructor() {
    super('storage: closed');
  }
}
