import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { random } from './random.ts';
import { type DiskOperation, sectorBytes, SimulatedDisk } from './simulated-disk.ts';

/** Test actions in order: an operation that completes immediately, or the start or end of one that overlaps others. */
type Act =
  | DiskOperation
  | { readonly begin: number; readonly operation: DiskOperation }
  | { readonly end: number; readonly bytes?: Buffer }
  | { readonly fail: number };

function diskAfter(acts: readonly Act[], files?: Record<string, string>): SimulatedDisk {
  const disk = new SimulatedDisk(new Map(Object.entries(files ?? {}).map(([name, text]) => [name, fromText(text)])));
  acts.forEach((act, i) => {
    if ('begin' in act) disk.begin(act.begin, act.operation);
    else if ('end' in act) disk.end(act.end, act.bytes);
    else if ('fail' in act) disk.fail(act.fail);
    else {
      disk.begin(1_000 + i, act);
      disk.end(1_000 + i);
    }
  });
  return disk;
}

/** Each character is a sector; `.` stands for zeros. */
function fromText(text: string): Buffer {
  return Buffer.concat([...text].map((character) => Buffer.alloc(sectorBytes, character === '.' ? 0 : character)));
}

function toText(files: ReadonlyMap<string, Buffer>): string {
  const text = (bytes: Buffer): string =>
    Array.from({ length: Math.ceil(bytes.length / sectorBytes) }, (_, i) => {
      const sector = bytes.subarray(i * sectorBytes, (i + 1) * sectorBytes);
      const [first] = sector;
      if (!sector.every((byte) => byte === first)) throw new Error(`sector ${i} is torn`);
      return first === 0 ? '.' : String.fromCharCode(first!);
    }).join('');
  return [...files].map(([name, bytes]) => `${name}=${text(bytes)}`).join(' ');
}

/** Returns all possible disk states, by more random tries than there are states. */
function statesOf(disk: SimulatedDisk): string[] {
  const next = random(1);
  return [...new Set(Array.from({ length: 2_000 }, () => toText(disk.afterPowerLoss(next))))].sort();
}

const write = (text: string, sector: number, file = 0): DiskOperation => ({
  type: 'write',
  file,
  offset: sector * sectorBytes,
  bytes: fromText(text),
});
const truncate = (sectors: number): DiskOperation => ({ type: 'truncate', file: 0, size: sectors * sectorBytes });
const link = (name: string, file: number): DiskOperation => ({ type: 'link', name, file });
const sync: DiskOperation = { type: 'sync', file: 0 };
const syncFolder: DiskOperation = { type: 'syncFolder' };

const rows: readonly {
  readonly name: string;
  readonly files?: Record<string, string>;
  readonly acts: readonly Act[];
  readonly current: string;
  readonly states: readonly string[];
}[] = [
  { name: 'an unsynced write may be lost', files: { f: 'a' }, acts: [write('b', 0)], current: 'f=b', states: ['f=a', 'f=b'] },
  { name: 'a synced write is durable', files: { f: 'a' }, acts: [write('b', 0), sync], current: 'f=b', states: ['f=b'] },
  {
    name: 'a write after the sync may be lost',
    files: { f: 'a' },
    acts: [write('b', 0), sync, write('c', 0)],
    current: 'f=c',
    states: ['f=b', 'f=c'],
  },
  {
    name: 'a sync that has not returned covers nothing',
    files: { f: 'a' },
    acts: [write('b', 0), { begin: 1, operation: sync }],
    current: 'f=b',
    states: ['f=a', 'f=b'],
  },
  {
    name: 'a sync does not cover a write that started after it',
    files: { f: 'a' },
    acts: [{ begin: 1, operation: sync }, write('b', 0), { end: 1 }],
    current: 'f=b',
    states: ['f=a', 'f=b'],
  },
  {
    name: 'a sync does not cover a write that had not returned when it started',
    files: { f: 'a' },
    acts: [{ begin: 1, operation: write('b', 0) }, { begin: 2, operation: sync }, { end: 1 }, { end: 2 }],
    current: 'f=b',
    states: ['f=a', 'f=b'],
  },
  {
    name: 'a failed sync covers nothing',
    files: { f: 'a' },
    acts: [write('b', 0), { begin: 1, operation: sync }, { fail: 1 }],
    current: 'f=b',
    states: ['f=a', 'f=b'],
  },
  {
    name: 'a write may be torn between sectors, in any order',
    files: { f: 'aa' },
    acts: [write('bc', 0)],
    current: 'f=bc',
    states: ['f=aa', 'f=ac', 'f=ba', 'f=bc'],
  },
  {
    name: 'a sector contains the result of one of its writes',
    files: { f: 'a' },
    acts: [write('b', 0), write('c', 0)],
    current: 'f=c',
    states: ['f=a', 'f=b', 'f=c'],
  },
  {
    name: 'a file may have grown by zeros',
    files: { f: 'a' },
    acts: [write('b', 1)],
    current: 'f=ab',
    states: ['f=a', 'f=a.', 'f=ab'],
  },
  {
    name: 'a truncation may be lost, and truncated data does not return',
    files: { f: 'ab' },
    acts: [truncate(1), sync, write('c', 2)],
    current: 'f=a.c',
    states: ['f=a', 'f=a..', 'f=a.c'],
  },
  { name: 'an unsynced truncation', files: { f: 'ab' }, acts: [truncate(1)], current: 'f=a', states: ['f=a', 'f=a.', 'f=ab'] },
  {
    name: 'a partial write',
    files: { f: 'aa' },
    acts: [{ begin: 1, operation: write('bb', 0) }, { end: 1, bytes: fromText('b') }, sync],
    current: 'f=ba',
    states: ['f=ba'],
  },
  {
    name: 'a failed write',
    files: { f: 'a' },
    acts: [{ begin: 1, operation: write('b', 0) }, { fail: 1 }],
    current: 'f=a',
    states: ['f=a'],
  },
  {
    name: 'a file may be missing if its folder was not synced',
    acts: [link('f', 0), write('a', 0), sync],
    current: 'f=a',
    states: ['', 'f=a'],
  },
  {
    name: 'a file may be empty if only its folder was synced',
    acts: [link('f', 0), write('a', 0), syncFolder],
    current: 'f=a',
    states: ['f=', 'f=.', 'f=a'],
  },
  { name: 'a file is durable if both were synced', acts: [link('f', 0), write('a', 0), sync, syncFolder], current: 'f=a', states: ['f=a'] },
  {
    name: 'a removed file may return',
    files: { f: 'a' },
    acts: [{ type: 'unlink', name: 'f' }],
    current: '',
    states: ['', 'f=a'],
  },
  {
    name: 'a removed file does not return if its folder was synced',
    files: { f: 'a' },
    acts: [{ type: 'unlink', name: 'f' }, syncFolder],
    current: '',
    states: [''],
  },
  {
    name: 'a reused name refers to either file',
    files: { f: 'a' },
    acts: [{ type: 'unlink', name: 'f' }, link('f', 1), write('b', 0, 1), { type: 'sync', file: 1 }],
    current: 'f=b',
    states: ['', 'f=a', 'f=b'],
  },
  {
    name: 'a renamed file has either name, never both or none',
    files: { f: 'a', g: 'b' },
    acts: [{ type: 'rename', from: 'f', to: 'g' }],
    current: 'g=a',
    states: ['f=a g=b', 'g=a'],
  },
];

describe('SimulatedDisk', () => {
  it.each(rows)('$name', ({ files, acts, current, states }) => {
    const disk = diskAfter(acts, files);
    expect(toText(disk.current())).toBe(current);
    expect(statesOf(disk)).toEqual([...states].sort());
  });
});
