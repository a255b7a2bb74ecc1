import { expect, it } from 'vitest';
import { Recorder, type Step } from './system-calls.ts';

const hex = (text: string): string =>
  `"${[...text].map((character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')}"`;

function stepsOf(lines: readonly string[], files: readonly string[] = []): unknown[] {
  const recorder = new Recorder('/data', '/notes', new Map(files.map((name) => [name, Buffer.alloc(0)])));
  recorder.read(lines.map((line) => `${line}\n`).join(''));
  return recorder.steps.map(shortened);
}

/** Formats a step as one line. */
function shortened(step: Step): string {
  if (step.type === 'note') return `note ${step.text}`;
  if (step.type !== 'begin') return `${step.type} ${step.id}${step.type === 'end' && step.bytes ? ` ${step.bytes.toString()}` : ''}`;
  return `begin ${step.id} ${JSON.stringify(step.operation, (name, value: unknown) => (name === 'bytes' ? Buffer.from((value as { data: number[] }).data).toString() : value))}`;
}

const open = (path: string, flags: string, result: number): string => `7 openat(AT_FDCWD, ${hex(path)}, ${flags}) = ${result}`;

it('records a file that is created, written, synced and removed, with a note in between', () => {
  expect(
    stepsOf([
      open('/notes', 'O_WRONLY|O_CREAT|O_APPEND|O_CLOEXEC, 0666', 3),
      open('/data/f', 'O_RDWR|O_CREAT|O_CLOEXEC, 0600', 4),
      `7 pwrite64(4, ${hex('ab, "')}, 5, 12) = 5`,
      `7 write(3, ${hex('one\ntwo\n')}, 8) = 8`,
      '7 fdatasync(4) = 0',
      '7 ftruncate(4, 3) = 0',
      '7 close(4) = 0',
      open('/data', 'O_RDONLY|O_CLOEXEC', 4),
      '7 fsync(4) = 0',
      `7 unlink(${hex('/data/f')}) = 0`,
    ]),
  ).toEqual([
    'begin 0 {"type":"link","name":"f","file":0}',
    'end 0',
    'begin 1 {"type":"write","file":0,"offset":12,"bytes":"ab, \\""}',
    'end 1',
    'note one',
    'note two',
    'begin 2 {"type":"sync","file":0}',
    'end 2',
    'begin 3 {"type":"truncate","file":0,"size":3}',
    'end 3',
    'begin 4 {"type":"syncFolder"}',
    'end 4',
    'begin 5 {"type":"unlink","name":"f"}',
    'end 5',
  ]);
});

it('records overlapping calls of two threads: a partial write, a failed one, and one that never returns', () => {
  expect(
    stepsOf(
      [
        open('/data/f', 'O_RDWR', 4),
        `7 pwrite64(4, ${hex('ab')}, 2, 0 <unfinished ...>`,
        '8 fsync(4 <unfinished ...>',
        '7 <... pwrite64 resumed>) = 1',
        '8 <... fsync resumed>) = 0',
        `7 unlink(${hex('/data/f')}) = -1 EPERM (Operation not permitted)`,
        `7 pwrite64(4, ${hex('c')}, 1, 2 <unfinished ...>`,
        '7 <... pwrite64 resumed>) = ?',
      ],
      ['f'],
    ),
  ).toEqual([
    'begin 0 {"type":"write","file":0,"offset":0,"bytes":"ab"}',
    'begin 1 {"type":"sync","file":0}',
    'end 0 a',
    'end 1',
    'begin 2 {"type":"unlink","name":"f"}',
    'fail 2',
    'begin 3 {"type":"write","file":0,"offset":2,"bytes":"c"}',
  ]);
});

it('tracks file positions for writes without an offset and ignores other files', () => {
  expect(
    stepsOf([
      open('/data/f', 'O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0600', 4),
      open('/data/f-shm', 'O_RDWR|O_CREAT', 5),
      open('/elsewhere/f', 'O_RDWR|O_CREAT', 6),
      open('/data/none', 'O_RDONLY', -1),
      `7 write(4, ${hex('ab')}, 2) = 2`,
      `7 write(4, ${hex('c')}, 1) = 1`,
      `7 write(5, ${hex('x')}, 1) = 1`,
      `7 write(6, ${hex('x')}, 1) = 1`,
      '7 mmap(NULL, 32768, PROT_READ|PROT_WRITE, MAP_SHARED, 5, 0) = 0x7f0000000000',
    ]),
  ).toEqual([
    'begin 0 {"type":"link","name":"f","file":0}',
    'end 0',
    'begin 1 {"type":"write","file":0,"offset":0,"bytes":"ab"}',
    'end 1',
    'begin 2 {"type":"write","file":0,"offset":2,"bytes":"c"}',
    'end 2',
  ]);
});

it.each([
  '7 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 4, 0) = 0x7f0000000000',
  '7 fallocate(4, 0, 0, 4096) = 0',
  `7 writev(4, [{iov_base=${hex('a')}, iov_len=1}], 1) = 1`,
  `7 link(${hex('/data/f')}, ${hex('/data/g')}) = 0`,
])('rejects unknown calls that could change a file: %s', (line) => {
  expect(() => stepsOf([open('/data/f', 'O_RDWR', 4), line], ['f'])).toThrow('unsupported call');
});
