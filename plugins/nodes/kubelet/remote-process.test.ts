import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import type { Pod } from 'kubenest/types/core_v1';
import { startProcess } from './remote-process.ts';

it.each([true, false])('ends a shell that gets a line without end (terminal: %s)', (tty) => {
  const codes: number[] = [];
  const streams = { stdout: () => {}, stderr: () => {}, exit: (code: number) => void codes.push(code) };
  const options = { pod: { metadata: { name: 'a' } } as Pod, container: { name: 'c' }, command: ['sh'], hasStdin: true, tty };
  const shell = startProcess(options, streams);
  shell.stdin(Buffer.from('echo a\n'));
  shell.stdin(Buffer.alloc(60_000, 'a'));
  expect(codes).toEqual([]);
  shell.stdin(Buffer.alloc(60_000, 'a'));
  expect(codes).toEqual([2]);
});
