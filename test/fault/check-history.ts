/**
 * What writers, readers and watchers of one store saw, in the order in which it happened, over several lives of the
 * process that has the store. `life` counts those.
 */
export type HistoryEntry =
  /** The store was opened: what it said its revision is. */
  | { readonly type: 'open'; readonly life: number; readonly revision: number }
  /** A write was asked for. Each writes another text, by which it is known in the log. `expected`: 0 for a creation. */
  | {
      readonly type: 'begin';
      readonly id: number;
      readonly verb: 'create' | 'update' | 'delete';
      readonly key: string;
      readonly expected: number;
      readonly text: string;
    }
  /** It was acknowledged. */
  | { readonly type: 'ack'; readonly id: number; readonly revision: number }
  /** It was refused: it has not happened. A write that has neither was under way when the process ended. */
  | { readonly type: 'reject'; readonly id: number; readonly error: string }
  | { readonly type: 'readBegin'; readonly id: number; readonly key: string }
  /** `revision` 0: there was nothing. */
  | { readonly type: 'readEnd'; readonly id: number; readonly revision: number; readonly text: string }
  /** A list of all keys was asked for, or a watch that sends what is there first. */
  | { readonly type: 'listBegin'; readonly id: number }
  | { readonly type: 'listEnd'; readonly id: number; readonly revision: number; readonly records: readonly ListedRecord[] }
  /** A watcher began, or went on: it is to see every event after `from`. */
  | { readonly type: 'watch'; readonly watcher: string; readonly from: number }
  /** The watcher was told that it cannot go on: what came after its last revision is forgotten (410). */
  | { readonly type: 'gone'; readonly watcher: string }
  /** The watcher was told that it has seen everything up to the revision. */
  | { readonly type: 'bookmark'; readonly watcher: string; readonly revision: number }
  | { readonly type: 'event'; readonly watcher: string; readonly revision: number; readonly key: string; readonly text: string };

export type ListedRecord = readonly [key: string, revision: number, text: string];

/** One event of the store's log, as it was read after each life. A deletion has no text. */
export interface LogEvent {
  readonly revision: number;
  readonly key: string;
  readonly text: string;
  /** The revision of the record before; 0 for a creation. */
  readonly previous: number;
}

/** What the store had at the end. */
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

/** The violations, each as a sentence; none if all is well. */
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

/** The log by itself: revisions rise, and each event follows the last one of its key. */
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

/** What was acknowledged is in the log as it was asked for; what was refused is not; nothing else is. */
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
        violations.push(`the deletion of ${key} at ${revision} was never asked for, or was refused`);
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

/** The store's revision never goes back, not over restarts either. */
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

/** A read shows a state that is not older than what was acknowledged, or read, before it began. */
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

/** A list shows the state of one revision, all of it, which is not older than anything that was acknowledged or shown before it began. */
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

/** Each watcher sees every event after its start once, in order, also over restarts. */
function checkWatchers(history: readonly HistoryEntry[], log: readonly LogEvent[]): string[] {
  const violations: string[] = [];
  const cursors = new Map<string, number>();
  const indexOf = new Map(log.map((event, i) => [event.revision, i]));
  for (const entry of history) {
    if (entry.type === 'watch') {
      const cursor = cursors.get(entry.watcher);
      if (cursor !== undefined && entry.from !== cursor)
        violations.push(`watcher ${entry.watcher} went on at ${entry.from} instead of ${cursor}: a mistake of the test`);
      cursors.set(entry.watcher, entry.from);
    } else if (entry.type === 'bookmark') {
      const { watcher, revision } = entry;
      const cursor = cursors.get(watcher) ?? 0;
      if (revision < cursor) violations.push(`watcher ${watcher} was told ${revision} after ${cursor}`);
      const missed = firstAfter(log, cursor);
      if (missed !== undefined && missed <= revision)
        violations.push(`watcher ${watcher} was told that ${revision} is reached, and missed ${missed}`);
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

/** What the watchers of a history have been through: where it is 0, a check of it has seen nothing. */
export interface WatchFigures {
  readonly lists: number;
  readonly bookmarks: number;
  /** How often a watcher went on from where it was and was shown something. */
  readonly resumptions: number;
  /** How often a watcher was told 410. */
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

/** `most`: how many answers 410 the starts of servers and the compactions explain. A server that has no history would give any number. */
export function checkGone({ gone }: WatchFigures, most: number): string[] {
  return gone > most ? [`watchers were told ${gone} times that the past is gone, which can be so ${most} times at most`] : [];
}

/** The revision of the first event after one. */
function firstAfter(log: readonly LogEvent[], revision: number): number | undefined {
  let low = 0;
  for (let high = log.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if (log[middle]!.revision <= revision) low = middle + 1;
    else high = middle;
  }
  return log[low]?.revision;
}

/** The state is what the log makes. */
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
