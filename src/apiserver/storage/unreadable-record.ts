import type { Buffer } from 'node:buffer';
import { recognizeCopies } from '#apimachinery/runtime/class-copies';
import type { Revision, StorageRecord } from './storage.ts';

/** A record with an unreadable value. Reading `value` throws the reason. */
export class UnreadableRecord implements StorageRecord {
  readonly key: string;
  readonly revision: Revision;
  readonly createRevision: Revision;

  constructor(
    { key, revision, createRevision }: Omit<StorageRecord, 'value'>,
    private readonly failure: Error,
  ) {
    this.key = key;
    this.revision = revision;
    this.createRevision = createRevision;
  }

  static {
    recognizeCopies(UnreadableRecord);
  }

  get value(): Buffer {
    throw this.failure;
  }
}
