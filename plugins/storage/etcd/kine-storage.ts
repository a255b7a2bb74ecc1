import { setTimeout as sleep } from 'node:timers/promises';
import { ConflictError, FutureRevisionError, type ListOptions, type ListResult, type Revision } from 'kubenest/sdk';
import { EtcdStorage, type RangeRequest, type RangeResponse } from './etcd-storage.ts';
import type { TxnResponse } from './messages.ts';

/** Key that kine creates at start: logstructured.go, Start. */
const startKey = '/registry/health';
/** Maximum lag of kine's reads behind an assigned revision, and the polling interval. */
const lagMs = 10_000;
const retryMs = 5;

/**
 * Storage in kine (github.com/k3s-io/kine), which implements etcd's protocol on an SQL database. Its differences from etcd
 * (as of 0.13.14):
 *
 * - a read without a result has the revision that kine's watches have reached, which may be older than a completed write
 *   (sqllog/sql.go, CurrentRevision), and a list reads that revision (logstructured.go, List);
 * - a read without a result at a newer revision is rejected as a future one until the watches reach it;
 * - a range excludes its first key (`name > startKey`, generic.go);
 * - the deletion of a missing key succeeds, and one that loses a race returns the deletion as the existing record
 *   (logstructured.go, Delete);
 * - compaction removes overwritten rows without a marker (sqllog/sql.go, Compact), so reads of compacted revisions would
 *   return what remains.
 */
export class KineStorage extends EtcdStorage {
  protected override get anyKey(): string {
    return startKey;
  }

  /** Does nothing, because kine compacts by itself. */
  override async compact(_revision: Revision): Promise<void> {
    this.refuseClosed();
  }

  /** Skips the check, because kine has no alarms and its status scans the whole database. */
  protected override hasRoom(): Promise<boolean> {
    return Promise.resolve(true);
  }

  /** Reads pages at one revision, including the first key. */
  protected override async readAll(prefix: string, { revision, limit = 0, from = prefix }: ListOptions): Promise<ListResult> {
    const at = revision ?? (await this.headRevision());
    if (from === prefix || !from.startsWith(prefix) || from.endsWith('\0')) return super.readAll(prefix, { revision: at, limit, from });
    const behind = { revision: at, limit, from: `${from}\0` };
    const [first, rest] = await Promise.all([this.read(from, at), super.readAll(prefix, behind)]);
    if (!first) return rest;
    const records = [first, ...rest.records];
    const isCut = limit > 0 && records.length > limit;
    if (isCut) records.length = limit;
    return { records, revision: at, more: rest.more || isCut, count: rest.count + 1 };
  }

  /** Repeats a read until kine has reached the revision. */
  protected override async range(request: RangeRequest): Promise<RangeResponse> {
    for (const end = performance.now() + lagMs; ; await sleep(retryMs)) {
      try {
        return await super.range(request);
      } catch (error) {
        const isLate = error instanceof FutureRevisionError && error.currentRevision >= request.revision;
        if (!isLate || performance.now() > end) throw error;
      }
    }
  }

  protected override async deletionConflict(key: string): Promise<ConflictError> {
    return new ConflictError(key, await this.read(key, undefined));
  }

  /** True if the deletion found the key, derived from the returned record because kine returns no count. */
  protected override hasDeleted({ responses }: TxnResponse, expected: Revision): boolean {
    return responses[0]?.deleteRange?.prevKvs?.[0]?.modRevision === expected;
  }
}
