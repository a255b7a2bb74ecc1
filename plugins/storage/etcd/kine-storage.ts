import { setTimeout as sleep } from 'node:timers/promises';
import { ConflictError, FutureRevisionError, type ListOptions, type ListResult, type Revision } from 'kubenest/sdk';
import { EtcdStorage, type RangeRequest, type RangeResponse } from './etcd-storage.ts';
import type { TxnResponse } from './messages.ts';

/** What each kine makes when it starts: logstructured.go, Start. */
const startKey = '/registry/health';
/** How long it may take to come to a revision that it has given, and how often it is asked. */
const lagMs = 10_000;
const retryMs = 5;

/**
 * The store in a kine (github.com/k3s-io/kine), which speaks etcd's protocol on a database of SQL. It answers otherwise than etcd in some
 * places (of 0.13.14):
 *
 * - a read that finds nothing has the revision that kine's watches have come to, which a write has before them (sqllog/sql.go,
 *   CurrentRevision), and a list is that of this revision then (logstructured.go, List);
 * - a read at a revision that finds nothing is refused as one of the future until they come to it;
 * - a range begins behind its first key (`name > startKey`, generic.go);
 * - a deletion of what is gone succeeds, and one that loses a race has the deletion for what is there (logstructured.go, Delete);
 * - compaction takes what was overwritten, and keeps no mark of it (sqllog/sql.go, Compact): what was asked of the past would be
 *   answered by what is left.
 */
export class KineStorage extends EtcdStorage {
  protected override get anyKey(): string {
    return startKey;
  }

  /** It is not asked: it compacts by itself. */
  override async compact(_revision: Revision): Promise<void> {
    this.refuseClosed();
  }

  /** It has no alarms, and goes through all of its database for its status. */
  protected override hasRoom(): Promise<boolean> {
    return Promise.resolve(true);
  }

  /** At one revision, and with the key that it begins with. */
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

  /** Asks again until it has come to the revision. */
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

  /** It counts none, and shows what it deleted. */
  protected override hasDeleted({ responses }: TxnResponse, expected: Revision): boolean {
    return responses[0]?.deleteRange?.prevKvs?.[0]?.modRevision === expected;
  }
}
