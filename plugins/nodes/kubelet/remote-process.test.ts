import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import type { Pod } from 'kubenest/types/core_v1';
import { atOnce } from '#apimachinery/runtime/steps';
import type { KnownPods } from '../pods/known-pods.ts';
import { SharedVolumes } from '../pods/shared-volumes.ts';
import { PodFiles } from '../pods/pod-files.ts';
import { type ProcessOptions, startProcess } from './remote-process.ts';

const sources = { env: {}, mounted: { texts: {}, volumes: new Set<string>(), unknown: [] } };
const pods = { watch: () => ({ [Symbol.dispose]: () => {} }) } as unknown as KnownPods;
const options = (more: Partial<ProcessOptions>): ProcessOptions => ({
  pod: { metadata: { name: 'a' } } as Pod,
  container: { name: 'c' },
  command: ['sh'],
  hasStdin: true,
  tty: false,
  sources,
  files: new PodFiles(pods, new SharedVolumes(() => undefined, '')),
  ...more,
});

it.each([true, false])('ends a shell that gets a line without end (terminal: %s)', (tty) => {
  const codes: number[] = [];
  const streams = { stdout: () => {}, stderr: () => {}, exit: (code: number) => void codes.push(code) };
  const shell = startProcess(options({ tty }), streams);
  atOnce(shell.stdin(Buffer.from('echo a\n')));
  atOnce(shell.stdin(Buffer.alloc(60_000, 'a')));
  expect(codes).toEqual([]);
  atOnce(shell.stdin(Buffer.alloc(60_000, 'a')));
  expect(codes).toEqual([2]);
});
