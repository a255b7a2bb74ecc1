import { describe, expect, it } from 'vitest';
import { checkGone, checkHistory, type FinalState, type HistoryEntry, type LogEvent, watchFigures } from './check-history.ts';

/** Three writes, one of them in the second life, and a fourth that was pending when the process ended. */
const history: readonly HistoryEntry[] = [
  { type: 'open', life: 1, revision: 1 },
  { type: 'watch', watcher: 'w', from: 1 },
  { type: 'begin', id: 1, verb: 'create', key: '/r/a', expected: 0, text: 'one' },
  { type: 'ack', id: 1, revision: 2 },
  { type: 'event', watcher: 'w', revision: 2, key: '/r/a', text: 'one' },
  { type: 'begin', id: 2, verb: 'update', key: '/r/a', expected: 2, text: 'two' },
  { type: 'begin', id: 3, verb: 'update', key: '/r/a', expected: 2, text: 'three' },
  { type: 'ack', id: 2, revision: 3 },
  { type: 'reject', id: 3, error: 'ConflictError' },
  { type: 'readBegin', id: 1, key: '/r/a' },
  { type: 'readEnd', id: 1, revision: 3, text: 'two' },
  { type: 'begin', id: 4, verb: 'create', key: '/r/b', expected: 0, text: 'four' },
  { type: 'open', life: 2, revision: 4 },
  { type: 'watch', watcher: 'w', from: 2 },
  { type: 'event', watcher: 'w', revision: 3, key: '/r/a', text: 'two' },
  { type: 'event', watcher: 'w', revision: 4, key: '/r/b', text: 'four' },
  { type: 'begin', id: 5, verb: 'delete', key: '/r/a', expected: 3, text: '' },
  { type: 'ack', id: 5, revision: 5 },
  { type: 'readBegin', id: 2, key: '/r/a' },
  { type: 'readEnd', id: 2, revision: 0, text: '' },
  { type: 'listBegin', id: 6 },
  { type: 'listEnd', id: 6, revision: 5, records: [['/r/b', 4, 'four']] },
];
const log: readonly LogEvent[] = [
  { revision: 2, key: '/r/a', text: 'one', previous: 0 },
  { revision: 3, key: '/r/a', text: 'two', previous: 2 },
  { revision: 4, key: '/r/b', text: 'four', previous: 0 },
  { revision: 5, key: '/r/a', text: '', previous: 3 },
];
const final: FinalState = { revision: 5, records: [{ key: '/r/b', revision: 4, text: 'four' }] };

const without = (index: number): HistoryEntry[] => history.filter((_, i) => i !== index);
const replaced = (index: number, entry: Partial<HistoryEntry>): HistoryEntry[] =>
  history.map((old, i) => (i === index ? ({ ...old, ...entry } as HistoryEntry) : old));
const logWith = (index: number, event: Partial<LogEvent>): LogEvent[] => log.map((old, i) => (i === index ? { ...old, ...event } : old));

describe('checkHistory', () => {
  it('accepts a valid history', () => {
    expect(checkHistory(history, log, final)).toEqual([]);
  });

  it('accepts that a pending write did not happen', () => {
    const short = history.slice(0, 12);
    expect(checkHistory(short, log.slice(0, 2), { revision: 3, records: [{ key: '/r/a', revision: 3, text: 'two' }] })).toEqual([]);
  });

  const bad: readonly {
    readonly name: string;
    readonly history?: readonly HistoryEntry[];
    readonly log?: readonly LogEvent[];
    readonly final?: FinalState;
    readonly violation: string;
  }[] = [
    {
      name: 'a lost write',
      log: log.slice(0, 3),
      final: { revision: 5, records: [{ key: '/r/a', revision: 3, text: 'two' }, ...final.records] },
      violation: 'write 5 (delete /r/a) was acknowledged at 5 and is lost',
    },
    { name: 'a write with another text', log: logWith(1, { text: 'three' }), violation: 'what /r/a has at 3 was refused (ConflictError)' },
    {
      name: 'a write over an unexpected state',
      history: replaced(5, { expected: 1 }),
      violation: 'write 2 (update /r/a over 1) was acknowledged at 3, where the log has another',
    },
    {
      name: 'a duplicate write',
      log: [...log, { revision: 6, key: '/r/a', text: 'one', previous: 0 }],
      violation: 'the write of /r/a at 6 has happened twice',
    },
    {
      name: 'a write without a request',
      log: [...log, { revision: 6, key: '/r/a', text: 'ghost', previous: 0 }],
      violation: 'what /r/a has at 6 was never written',
    },
    {
      name: 'a deletion without a request',
      log: [...log, { revision: 6, key: '/r/b', text: '', previous: 4 }],
      violation: 'the deletion of /r/b at 6 was never requested, or was refused',
    },
    { name: 'a reused revision', history: replaced(17, { revision: 3 }), violation: 'revision 3 was given to the writes 2 and 5' },
    { name: 'an unordered log', log: [log[0]!, log[2]!, log[1]!, log[3]!], violation: 'log: revision 3 comes after 4' },
    { name: 'a log with a gap in a key', log: logWith(3, { previous: 2 }), violation: 'log: /r/a at 5 follows 2, but before it was 3' },
    {
      name: 'a decreasing revision',
      history: replaced(12, { revision: 2 }),
      violation: 'life 2 began at revision 2, after 3 had been seen',
    },
    {
      name: 'a stale read',
      history: replaced(10, { revision: 2, text: 'one' }),
      violation: 'read 1 of /r/a found revision 2, after 3 was acknowledged',
    },
    {
      name: 'a read of a state that never existed',
      history: replaced(10, { text: 'three' }),
      violation: 'read 1 of /r/a found what the log does not have at 3',
    },
    {
      name: 'a read that misses an existing key',
      history: replaced(10, { revision: 0, text: '' }).slice(0, 12),
      log: log.slice(0, 2),
      final: { revision: 3, records: [{ key: '/r/a', revision: 3, text: 'two' }] },
      violation: 'read 1 of /r/a found nothing, after revision 3 was acknowledged',
    },
    { name: 'a missed event', history: without(14), violation: 'watcher w saw 4 after 2 and missed 3' },
    {
      name: 'a duplicate event',
      history: [...history.slice(0, 15), history[14]!, ...history.slice(15)],
      violation: 'watcher w saw 3 after 3',
    },
    {
      name: 'a bookmark ahead of the events sent',
      history: [...history.slice(0, 14), { type: 'bookmark', watcher: 'w', revision: 3 }, ...history.slice(14)],
      violation: 'watcher w received a bookmark of 3, and missed 3',
    },
    {
      name: 'a decreasing bookmark',
      history: [...history.slice(0, 16), { type: 'bookmark', watcher: 'w', revision: 3 }, ...history.slice(16)],
      violation: 'watcher w received 3 after 4',
    },
    {
      name: 'an event at or before a bookmark',
      history: [...history.slice(0, 15), { type: 'bookmark', watcher: 'w', revision: 4 }, ...history.slice(15)],
      violation: 'watcher w saw 4 after 4',
    },
    {
      name: 'an event of a write that is not durable',
      history: replaced(15, { text: 'ghost' }),
      violation: 'watcher w saw at 4 what the log does not have',
    },
    {
      name: 'a watch that is not resumed at its last revision',
      history: replaced(13, { from: 1 }),
      violation: 'watcher w continued at 1 instead of 2: a mistake of the test',
    },
    {
      name: 'a final state that differs from the log',
      final: { revision: 5, records: [{ key: '/r/b', revision: 3, text: 'four' }] },
      violation: '/r/b is at 3 in the end, but at 4 by the log',
    },
    {
      name: 'a state that lacks a key',
      final: { revision: 5, records: [] },
      violation: '/r/b is missing in the end; by the log it is at 4',
    },
    {
      name: 'a final revision that is too low',
      final: { ...final, revision: 4 },
      violation: 'the revision in the end is 4; the log goes to 5',
    },
    {
      name: 'a list older than a write acknowledged before it',
      history: replaced(21, {
        revision: 4,
        records: [
          ['/r/a', 3, 'two'],
          ['/r/b', 4, 'four'],
        ],
      }),
      violation: 'list 6 is of revision 4, after 5 was known',
    },
    {
      name: 'a list with a key deleted at its revision',
      history: replaced(21, {
        records: [
          ['/r/a', 3, 'two'],
          ['/r/b', 4, 'four'],
        ],
      }),
      violation: 'list 6 of revision 5 shows /r/a at 3; by the log it is at 0',
    },
    {
      name: 'a list that lacks a key',
      history: replaced(21, { records: [] }),
      violation: 'list 6 of revision 5 lacks /r/b, which is at 4',
    },
    {
      name: 'a list with another text',
      history: replaced(21, { records: [['/r/b', 4, 'one']] }),
      violation: 'list 6 of revision 5 shows /r/b at 4; by the log it is at 4',
    },
    {
      name: 'a list with a duplicate key',
      history: replaced(21, {
        records: [
          ['/r/b', 4, 'four'],
          ['/r/b', 4, 'four'],
        ],
      }),
      violation: 'list 6 of revision 5 shows a key twice',
    },
  ];
  it.each(bad)('finds $name', (row) => {
    expect(checkHistory(row.history ?? history, row.log ?? log, row.final ?? final)).toContain(row.violation);
  });
});

describe('watchFigures', () => {
  const watched: readonly HistoryEntry[] = [
    ...history,
    { type: 'bookmark', watcher: 'w', revision: 4 },
    { type: 'watch', watcher: 'w', from: 4 },
    { type: 'gone', watcher: 'w' },
  ];

  it('counts watcher events; a watcher that resumes and receives nothing does not count as resumed', () => {
    expect(watchFigures(history)).toEqual({ lists: 1, bookmarks: 0, resumptions: 1, gone: 0 });
    expect(watchFigures(watched)).toEqual({ lists: 1, bookmarks: 1, resumptions: 1, gone: 1 });
  });

  it('rejects a server that answers 410 to everything', () => {
    const always = Array.from({ length: 20 }, () => watched.slice(-2)).flat();
    expect(checkGone(watchFigures(watched), 1)).toEqual([]);
    expect(checkGone(watchFigures(always), 6)).toEqual(['watchers received 410 20 times, at most 6 are explained']);
    expect(watchFigures(always).resumptions).toBe(0);
  });
});
