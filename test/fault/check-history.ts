/**
 * Operations and observations of writers, readers and watchers of a store, in real-time order, over several lives of the
 * process that runs the store. `life` numbers the lives.
 */
export type HistoryEntry =
  /** The store was opened with this revision. */
  | { readonly type: 'open'; readonly life: number; readonly revision: number }
  /** A write was requested. Each write has a unique text, which identifies it in the log. `expected` is 0 for a create. */
  | {
      readonly type: 'begin';
      readonly id: number;
      readonly verb: 'create' | 'update' | 'delete';
      readonly key: string;
      readonly expected: number;
      readonly text: string;
    }
  /** The write was acknowledged. */
  | { readonly type: 'ack'; readonly id: number; readonly revision: number }
  /** The write was rejected and did not happen. A write with neither outcome was pending when the process ended. */
  | { readonly type: 'reject'; readonly id: number; readonly error: string }
  | { readonly type: 'readBegin'; readonly id: number; readonly key: string }
  /** The read returned; `revision` 0 means no record. */
  | { readonly type: 'readEnd'; readonly id: number; readonly revision: number; readonly text: string }
  /** A list of all keys was requested, or a watch with initial events. */
  | { readonly type: 'listBegin'; readonly id: number }
  | { readonly type: 'listEnd'; readonly id: number; readonly revision: number; readonly records: readonly ListedRecord[] }
  /** A watcher started or resumed: it must receive every event after `from`. */
  | { readonly type: 'watch'; readonly watcher: string; readonly from: number }
  /** The watcher received 410: its position is no longer in the history. */
  | { readonly type: 'gone'; readonly watcher: string }
  /** The watcher received a bookmark: it has received everything up to the revision. */
  | { readonly type: 'bookmark'; readonly watcher: string; readonly revision: number }
  | { readonly type: 'event'; readonly watcher: string; readonly revision: number; readonly key: string; readonly text: string };

export type ListedRecord = readonly [key: string, revision: number, text: string];

/** An event of the store's log, which is read after each life. A deletion has no text. */
export interface LogEvent {
  readonly revision: number;
  readonly key: string;
  readonly text: string;
  /** Revision of the previous record; 0 for a create. */
  readonly previous: number;
}

/** Final content of the store. */
export interface FinalState {
  readonly revision: number;
  readonly records: readonly { readonly key: string; readonly revision: number; readonly text: string }[];
}

interface Write {
  readonly verb: string;
  readonly key: string;
  readonly expected: number;
  readonly text: string;
  ack?: number;
  rejected?: string;
}

/** Returns the violations as sentences; empty if the history is valid. */
export function checkHistory(history: readonly HistoryEntry[], log: readonly LogEvent[], final: FinalState): string[] {
  return [
    ...checkLog(log),
    ...checkWrites(history, log),
    ...checkRevisions(history),
    ...checkReads(history, log),
    ...checkLists(history, log),
    ...checkWatchers(history, log),
    ...checkFinal(log, final),
  ];
}

/** Checks the log alone: revisions increase, and each event follows the last one of its key. */
function checkLog(log: readonly LogEvent[]): string[] {
  const violations: string[] = [];
  const present = new Map<string, number>();
  let last = 0;
  for (const { revision, key, text, previous } of log) {
    if (revision <= last) violations.push(`log: revision ${revision} comes after ${last}`);
    last = revision;
    if ((present.get(key) ?? 0) !== previous)
      violations.push(`log: ${key} at ${revision} follows ${previous}, but before it was ${present.get(key) ?? 0}`);
    if (text === '') present.delete(key);
    else present.set(key, revision);
  }
  return violations;
}

/** Checks that the log contains exactly the acknowledged writes, as requested, plus possibly pending ones. */
function checkWrites(history: readonly HistoryEntry[], log: readonly LogEvent[]): string[] {
  const violations: string[] = [];
  const writes = new Map<number, Write>();
  for (const entry of history) {
    if (entry.type === 'begin') writes.set(entry.id, { ...entry });
    else if (entry.type === 'ack') writes.get(entry.id)!.ack = entry.revision;
    else if (entry.type === 'reject') writes.get(entry.id)!.rejected = entry.error;
  }
  const byRevision = new Map(log.map((event) => [event.revision, event]));
  const acknowledged = new Map<number, number>();
  const byText = new Map<string, Write>();
  const deletions = new Set<string>();
  for (const [id, write] of writes) {
    if (write.verb === 'delete') {
      if (write.rejected === undefined) deletions.add(`${write.key}@${write.expected}`);
    } else byText.set(write.text, write);
    if (write.ack === undefined) continue;
    const other = acknowledged.get(write.ack);
    if (other !== undefined) violations.push(`revision ${write.ack} was given to the writes ${other} and ${id}`);
    acknowledged.set(write.ack, id);
    const event = byRevision.get(write.ack);
    const text = write.verb === 'delete' ? '' : write.text;
    if (!event) violations.push(`write ${id} (${write.verb} ${write.key}) was acknowledged at ${write.ack} and is lost`);
    else if (event.key !== write.key || event.text !== text || event.previous !== write.expected) {
      violations.push(
        `write ${id} (${write.verb} ${write.key} over ${write.expected}) was acknowledged at ${write.ack}, where the log has another`,
      );
    }
  }
  const seen = new Set<string>();
  for (const { revision, key, text, previous } of log) {
    if (text === '') {
      if (!deletions.has(`${key}@${previous}`))
        violations.push(`the deletion of ${key} at ${revision} was never requested, or was refused`);
      continue;
    }
    const write = byText.get(text);
    if (!write || write.key !== key) violations.push(`what ${key} has at ${revision} was never written`);
    else if (write.rejected !== undefined) violations.push(`what ${key} has at ${revision} was refused (${write.rejected})`);
    else if (write.ack !== undefined && write.ack !== revision)
      violations.push(`the write acknowledged at ${write.ack} is in the log at ${revision}`);
    if (seen.has(text)) violations.push(`the write of ${key} at ${revision} has happened twice`);
    seen.add(text);
  }
  return violations;
}

/** Checks that the store's revision never decreases, including over restarts. */
function checkRevisions(history: readonly HistoryEntry[]): string[] {
  const violations: string[] = [];
  let highest = 0;
  for (const entry of history) {
    if (entry.type === 'open') {
      if (entry.revision < highest)
        violations.push(`life ${entry.life} began at revision ${entry.revision}, after ${highest} had been seen`);
      highest = Math.max(highest, entry.revision);
    } else if (entry.type === 'ack' || entry.type === 'event') {
      highest = Math.max(highest, entry.revision);
    }
  }
  return violations;
}

/** Checks that a read returns a state not older than any acknowledged write or completed read before it. */
function checkReads(history: readonly HistoryEntry[], log: readonly LogEvent[]): string[] {
  const violations: string[] = [];
  const keys = new Map<number, string>();
  const acknowledged = new Map<string, number>();
  const reads = new Map<number, { readonly key: string; readonly atLeast: number }>();
  const byKey = new Map<string, LogEvent[]>();
  for (const event of log) {
    const events = byKey.get(event.key);
    if (events) events.push(event);
    else byKey.set(event.key, [event]);
  }
  for (const entry of history) {
    if (entry.type === 'begin') keys.set(entry.id, entry.key);
    else if (entry.type === 'ack') {
      const key = keys.get(entry.id)!;
      acknowledged.set(key, Math.max(acknowledged.get(key) ?? 0, entry.revision));
    } else if (entry.type === 'readBegin') reads.set(entry.id, { key: entry.key, atLeast: acknowledged.get(entry.key) ?? 0 });
    else if (entry.type === 'readEnd') {
      const { key, atLeast } = reads.get(entry.id)!;
      const events = byKey.get(key) ?? [];
      if (entry.revision === 0) {
        const isPossible = atLeast === 0 || events.some((event) => event.revision >= atLeast && event.text === '');
        if (!isPossible) violations.push(`read ${entry.id} of ${key} found nothing, after revision ${atLeast} was acknowledged`);
        continue;
      }
      const event = events.find(({ revision }) => revision === entry.revision);
      if (!event || event.text !== entry.text)
        violations.push(`read ${entry.id} of ${key} found what the log does not have at ${entry.revision}`);
      else if (entry.revision < atLeast)
        violations.push(`read ${entry.id} of ${key} found revision ${entry.revision}, after ${atLeast} was acknowledged`);
      else acknowledged.set(key, Math.max(acknowledged.get(key) ?? 0, entry.revision));
    }
  }
  return violations;
}

/** Checks that a list returns the complete state of one revision, not older than anything acknowledged or read before it. */
function checkLists(history: readonly HistoryEntry[], log: readonly LogEvent[]): string[] {
  const violations: string[] = [];
  const atLeast = new Map<number, number>();
  const lists: Extract<HistoryEntry, { type: 'listEnd' }>[] = [];
  let known = 0;
  for (const entry of history) {
    if (entry.type === 'listBegin') atLeast.set(entry.id, known);
    else if (entry.type === 'listEnd') {
      const oldest = atLeast.get(entry.id)!;
      if (entry.revision < oldest) violations.push(`list ${entry.id} is of revision ${entry.revision}, after ${oldest} was known`);
      lists.push(entry);
    }
    if (entry.type === 'ack' || entry.type === 'readEnd' || entry.type === 'listEnd' || entry.type === 'event')
      known = Math.max(known, entry.revision);
  }
  const state = new Map<string, LogEvent>();
  let reached = 0;
  for (const { id, revision, records } of lists.sort((a, b) => a.revision - b.revision)) {
    for (; reached < log.length && log[reached]!.revision <= revision; reached++) {
      const event = log[reached]!;
      if (event.text === '') state.delete(event.key);
      else state.set(event.key, event);
    }
    const listed = new Map(records.map((record) => [record[0], record]));
    if (listed.size < records.length) violations.push(`list ${id} of revision ${revision} shows a key twice`);
    for (const [key, at, text] of records) {
      const event = state.get(key);
      if (event?.revision !== at || event.text !== text)
        violations.push(`list ${id} of revision ${revision} shows ${key} at ${at}; by the log it is at ${event?.revision ?? 0}`);
    }
    for (const [key, event] of state)
      if (!listed.has(key)) violations.push(`list ${id} of revision ${revision} lacks ${key}, which is at ${event.revision}`);
  }
  return violations;
}

/** Checks that each watcher receives every event after its start once, in order, including over restarts. */
function checkWatchers(history: readonly HistoryEntry[], log: readonly LogEvent[]): string[] {
  const violations: string[] = [];
  const cursors = new Map<string, number>();
  const indexOf = new Map(log.map((event, i) => [event.revision, i]));
  for (const entry of history) {
    if (entry.type === 'watch') {
      const cursor = cursors.get(entry.watcher);
      if (cursor !== undefined && entry.from !== cursor)
        violations.push(`watcher ${entry.watcher} continued at ${entry.from} instead of ${cursor}: a mistake of the test`);
      cursors.set(entry.watcher, entry.from);
    } else if (entry.type === 'bookmark') {
      const { watcher, revision } = entry;
      const cursor = cursors.get(watcher) ?? 0;
      if (revision < cursor) violations.push(`watcher ${watcher} received ${revision} after ${cursor}`);
      const missed = firstAfter(log, cursor);
      if (missed !== undefined && missed <= revision)
        violations.push(`watcher ${watcher} received a bookmark of ${revision}, and missed ${missed}`);
      cursors.set(watcher, Math.max(cursor, revision));
    } else if (entry.type === 'event') {
      const { watcher, revision, key, text } = entry;
      const cursor = cursors.get(watcher) ?? 0;
      if (revision <= cursor) {
        violations.push(`watcher ${watcher} saw ${revision} after ${cursor}`);
        continue;
      }
      cursors.set(watcher, revision);
      const i = indexOf.get(revision);
      const event = i === undefined ? undefined : log[i];
      if (!event || event.key !== key || event.text !== text)
        violations.push(`watcher ${watcher} saw at ${revision} what the log does not have`);
      else {
        const before = log[i! - 1]?.revision ?? 0;
        if (before > cursor) violations.push(`watcher ${watcher} saw ${revision} after ${cursor} and missed ${before}`);
      }
    }
  }
  return violations;
}

/** Statistics of a history's watchers; a figure of 0 means that the corresponding check was vacuous. */
export interface WatchFigures {
  readonly lists: number;
  readonly bookmarks: number;
  /** Number of times a watcher resumed and received an event. */
  readonly resumptions: number;
  /** Number of 410 responses to watchers. */
  readonly gone: number;
}

export function watchFigures(history: readonly HistoryEntry[]): WatchFigures {
  const watched = new Set<string>();
  const resumed = new Set<string>();
  const figures = { lists: 0, bookmarks: 0, resumptions: 0, gone: 0 };
  for (const entry of history) {
    if (entry.type === 'listEnd') figures.lists += 1;
    else if (entry.type === 'gone') figures.gone += 1;
    else if (entry.type === 'watch') {
      if (watched.has(entry.watcher)) resumed.add(entry.watcher);
      watched.add(entry.watcher);
    } else if (entry.type === 'event' || entry.type === 'bookmark') {
      if (entry.type === 'bookmark') figures.bookmarks += 1;
      if (resumed.delete(entry.watcher)) figures.resumptions += 1;
    }
  }
  return figures;
}

/**
 * Checks the number of 410 responses. `most` is the number explained by server starts and compactions; a server without a
 * history would exceed it.
 */
export function checkGone({ gone }: WatchFigures, most: number): string[] {
  return gone > most ? [`watchers received 410 ${gone} times, at most ${most} are explained`] : [];
}

/** Returns the revision of the first event after a revision. */
function firstAfter(log: readonly LogEvent[], revision: number): number | undefined {
  let low = 0;
  for (let high = log.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if (log[middle]!.revision <= revision) low = middle + 1;
    else high = middle;
  }
  return log[low]?.revision;
}

/** Checks that the final state equals the replayed log. */
function checkFinal(log: readonly LogEvent[], final: FinalState): string[] {
  const violations: string[] = [];
  const state = new Map<string, LogEvent>();
  for (const event of log) {
    if (event.text === '') state.delete(event.key);
    else state.set(event.key, event);
  }
  for (const { key, revision, text } of final.records) {
    const event = state.get(key);
    if (event?.revision !== revision || event.text !== text)
      violations.push(`${key} is at ${revision} in the end, but at ${event?.revision ?? 0} by the log`);
    state.delete(key);
  }
  for (const [key, { revision }] of state) violations.push(`${key} is missing in the end; by the log it is at ${revision}`);
  const last = log.at(-1)?.revision ?? 0;
  if (final.revision < last) violations.push(`the revision in the end is ${final.revision}; the log goes to ${last}`);
  return violations;
}
