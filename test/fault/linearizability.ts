/**
 * Linearizability checker for operations on a key: searches an order in which each operation takes effect between its start
 * and its end and has the observed outcome. Uses the algorithm of Wing and Gong with Lowe's memoization, as in porcupine.
 */
import type { HistoryEntry, LogEvent } from './check-history.ts';

/** An operation. A state is the text of the key, unique for each write; '' means no record. */
export interface Operation {
  /**
   * Indices of its start and end in the history; Infinity as the end of an operation with unknown outcome, which may never
   * have happened.
   */
  readonly begin: number;
  readonly end: number;
  /** Returns the next state; undefined if the observed outcome is impossible in the state. */
  readonly apply: (state: string) => string | undefined;
}

interface Event {
  readonly operation: number;
  readonly isEnd: boolean;
  previous: Event | undefined;
  next: Event | undefined;
}

/** True if the operations on one key, which is initially empty, are linearizable. */
export function isLinearizable(unordered: readonly Operation[]): boolean {
  const operations = [...unordered].sort((a, b) => a.begin - b.begin);
  const head = link(operations);
  const certain = operations.filter(({ end }) => end !== Infinity).length;
  const done = new Done();
  const seen = new Set<string>();
  const path: { readonly begin: Event; readonly state: string }[] = [];
  const endOf = new Map<number, Event>();
  for (let event = head.next; event; event = event.next) if (event.isEnd) endOf.set(event.operation, event);
  let state = '';
  let left = certain;
  for (let event = head.next; left > 0; ) {
    if (event && !event.isEnd) {
      const { operation } = event;
      const after = operations[operation]!.apply(state);
      if (after !== undefined) {
        done.add(operation);
        const memory = `${done}|${after}`;
        if (!seen.has(memory)) {
          seen.add(memory);
          path.push({ begin: event, state });
          state = after;
          if (operations[operation]!.end !== Infinity) left -= 1;
          lift(event, endOf.get(operation));
          event = head.next;
          continue;
        }
        done.delete(operation);
      }
      event = event.next;
      continue;
    }
    // The next event is an end that no candidate can precede, so the last choice was wrong.
    const last = path.pop();
    if (!last) return false;
    const { operation } = last.begin;
    done.delete(operation);
    state = last.state;
    if (operations[operation]!.end !== Infinity) left += 1;
    unlift(last.begin, endOf.get(operation));
    event = last.begin.next;
  }
  return true;
}

/** A set of operation indices, most of which are contiguous from 0: 0 to 4 and 6 are `5:6`. */
class Done {
  /** All indices below it are in the set. */
  #base = 0;
  readonly #above = new Set<number>();

  add(operation: number): void {
    this.#above.add(operation);
    while (this.#above.delete(this.#base)) this.#base += 1;
  }

  delete(operation: number): void {
    if (this.#above.delete(operation)) return;
    for (let one = operation + 1; one < this.#base; one++) this.#above.add(one);
    this.#base = operation;
  }

  toString(): string {
    return `${this.#base}:${[...this.#above].sort((a, b) => a - b).join()}`;
  }
}

/** Links starts and ends in order behind an empty head. */
function link(operations: readonly Operation[]): Event {
  const moments = operations
    .flatMap(({ begin, end }, operation) => [
      { at: begin, operation, isEnd: false },
      ...(end === Infinity ? [] : [{ at: end, operation, isEnd: true }]),
    ])
    .sort((a, b) => a.at - b.at);
  const head: Event = { operation: -1, isEnd: false, previous: undefined, next: undefined };
  let last = head;
  for (const { operation, isEnd } of moments) {
    const event: Event = { operation, isEnd, previous: last, next: undefined };
    last.next = event;
    last = event;
  }
  return head;
}

function lift(begin: Event, end: Event | undefined): void {
  for (const event of [begin, end]) {
    if (!event) continue;
    event.previous!.next = event.next;
    if (event.next) event.next.previous = event.previous;
  }
}

/** Undoes `lift`; call in reverse order. */
function unlift(begin: Event, end: Event | undefined): void {
  for (const event of [end, begin]) {
    if (!event) continue;
    event.previous!.next = event;
    if (event.next) event.next.previous = event;
  }
}

/**
 * Returns the keys with non-linearizable histories as sentences. `log` maps revisions to texts and shows which unknown
 * writes happened.
 */
export function checkLinearizability(history: readonly HistoryEntry[], log: readonly LogEvent[]): string[] {
  return [...operationsByKey(history, log)]
    .filter(([, operations]) => !isLinearizable(operations))
    .map(([key, operations]) => `the ${operations.length} operations of ${key} are not linearizable`);
}

function operationsByKey(history: readonly HistoryEntry[], log: readonly LogEvent[]): Map<string, Operation[]> {
  const textAt = new Map(log.map(({ key, revision, text }) => [`${key}@${revision}`, text]));
  const written = new Set(log.map(({ text }) => text));
  const deleted = new Set(log.filter(({ text }) => text === '').map(({ key, previous }) => `${key}@${previous}`));
  const ends = new Map<string, { readonly at: number; readonly entry: HistoryEntry }>();
  for (const [at, entry] of history.entries()) {
    if (entry.type === 'ack' || entry.type === 'reject') ends.set(`write ${entry.id}`, { at, entry });
    else if (entry.type === 'readEnd') ends.set(`read ${entry.id}`, { at, entry });
  }
  const keys = new Set(log.map(({ key }) => key));
  const listBegins = new Map<number, number>();
  const byKey = new Map<string, Operation[]>();
  const add = (key: string, begin: number, end: number, apply: Operation['apply']): void => {
    const operations = byKey.get(key) ?? [];
    operations.push({ begin, end, apply });
    byKey.set(key, operations);
  };
  for (const [begin, entry] of history.entries()) {
    if (entry.type === 'readBegin') {
      const end = ends.get(`read ${entry.id}`);
      if (end?.entry.type !== 'readEnd') continue;
      const { text } = end.entry;
      add(entry.key, begin, end.at, shows(text));
    } else if (entry.type === 'listBegin') listBegins.set(entry.id, begin);
    else if (entry.type === 'listEnd') {
      // A list counts as a read of each key.
      const texts = new Map(entry.records.map(([key, , text]) => [key, text]));
      for (const key of keys) add(key, listBegins.get(entry.id)!, begin, shows(texts.get(key) ?? ''));
    } else if (entry.type === 'begin') {
      const { key, verb, expected, text } = entry;
      const before = expected === 0 ? '' : textAt.get(`${key}@${expected}`);
      const end = ends.get(`write ${entry.id}`);
      if (end?.entry.type === 'reject') {
        const { error } = end.entry;
        if (error === 'AlreadyExists' || error === 'KeyExistsError') add(key, begin, end.at, (state) => (state === '' ? undefined : state));
        else if (error === 'Conflict' || error === 'ConflictError')
          add(key, begin, end.at, (state) => (state === before ? undefined : state));
        else if (error === 'NotFound') add(key, begin, end.at, shows(''));
        continue;
      }
      const hasHappened = verb === 'delete' ? deleted.has(`${key}@${expected}`) : written.has(text);
      if (end || hasHappened) add(key, begin, end?.at ?? Infinity, (state) => (state === before ? text : undefined));
    }
  }
  return byKey;
}

function shows(text: string): Operation['apply'] {
  return (state) => (state === text ? state : undefined);
}
