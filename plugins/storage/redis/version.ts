import { Buffer } from 'node:buffer';
import type { Revision, StorageRecord } from 'kubenest/sdk';

const colon = 0x3a;
const deletion = 0x44;

/** A stored version of a key; `record` is undefined for a deletion. */
export interface Version {
  readonly revision: Revision;
  readonly record: StorageRecord | undefined;
}

/** Parses `revision:createRevision:P` + value, or `revision:createRevision:D`; undefined for empty bytes. */
export function parseVersion(key: string, bytes: Buffer): Version | undefined {
  if (bytes.length === 0) return undefined;
  const first = bytes.indexOf(colon);
  const second = bytes.indexOf(colon, first + 1);
  const revision = Number(bytes.toString('latin1', 0, first));
  if (bytes[second + 1] === deletion) return { revision, record: undefined };
  const createRevision = Number(bytes.toString('latin1', first + 1, second));
  return { revision, record: { key, revision, createRevision, value: Buffer.from(bytes.subarray(second + 2)) } };
}
