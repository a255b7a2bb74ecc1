import { Buffer } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Pod } from 'kubenest/types/core_v1';
import { atOnce } from '#apimachinery/runtime/steps';
import type { KnownPods } from '../pods/known-pods.ts';
import { SharedVolumes } from '../pods/shared-volumes.ts';
import { PodFiles } from '../pods/pod-files.ts';
import { bytesOfText, textOfBytes } from '../shell/bytes.ts';
import { readTar, writeTar } from '../shell/tar.ts';
import { type ProcessOptions, type RemoteProcess, startProcess } from './remote-process.ts';

const mounted = { texts: {}, volumes: new Set<string>(), unknown: [] };
const pods = { watch: () => ({ [Symbol.dispose]: () => {} }) } as unknown as KnownPods;
const options = (more: Partial<ProcessOptions>): ProcessOptions => ({
  pod: { metadata: { name: 'a' } } as Pod,
  container: { name: 'c' },
  command: ['sh'],
  hasStdin: true,
  tty: false,
  mounted,
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

it('lets a command wait for the standard input that it reads, and only then', () => {
  const pod = { metadata: { name: 'a', namespace: 'n', uid: 'u' } } as Pod;
  const files = new PodFiles(pods, new SharedVolumes(() => undefined, ''));
  const output: string[] = [];
  const streams = { stdout: (bytes: Buffer) => void output.push(bytes.toString()), stderr: () => {}, exit: () => {} };
  const start = (script: string): RemoteProcess => startProcess(options({ pod, files, command: ['sh', '-c', script] }), streams);
  start('echo at once').hangUp();
  expect(output.splice(0)).toEqual(['at once\n']);
  const reading = start('echo first > /tmp/log; cat > /tmp/in; cat /tmp/log /tmp/in; echo again >> /tmp/log; wc -l /tmp/log');
  atOnce(reading.stdin(Buffer.from('a\n')));
  expect(output).toEqual([]);
  atOnce(reading.stdin(Buffer.from('b\n')));
  reading.stdinClosed();
  reading.hangUp();
  expect(output).toEqual(['first\na\nb\n2 /tmp/log\n']);
});

it('shows output at its times', async () => {
  const began = performance.now();
  const parts: { text: string; seconds: number }[] = [];
  const add = (bytes: Buffer): void => void parts.push({ text: bytes.toString(), seconds: (performance.now() - began) / 1_000 });
  const script = 'echo a; sleep 0.2; echo b >&2; sleep 0.2; echo c; exit 3';
  const code = await new Promise((exit) => {
    startProcess(options({ hasStdin: false, command: ['sh', '-c', script] }), { stdout: add, stderr: add, exit });
  });
  expect([code, parts.map(({ text }) => text)]).toEqual([3, ['a\n', 'b\n', 'c\n']]);
  for (const [i, { seconds }] of parts.entries()) expect(seconds).toBeGreaterThanOrEqual(0.2 * i - 0.01);
});

it('shows the iterations of a loop without end as they happen', async () => {
  let count = 0;
  const script = 'while true; do sleep 0.01; echo a; done';
  const { promise, resolve } = Promise.withResolvers<void>();
  const stdout = (): void => {
    count += 1;
    if (count === 5) resolve();
  };
  const process = startProcess(options({ hasStdin: false, command: ['sh', '-c', script] }), { stdout, stderr() {}, exit() {} });
  await promise;
  process.hangUp();
  expect(count).toBeGreaterThanOrEqual(5);
});

it('shows nothing after the client has hung up, even if it is due', async () => {
  const output: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const add = (bytes: Buffer): void => {
    output.push(bytes.toString());
    process.hangUp();
    resolve();
  };
  const streams = { stdout: add, stderr: add, exit: () => void output.push('exit') };
  const process = startProcess(options({ hasStdin: false, command: ['sh', '-c', 'sleep 0.5; echo a; echo b >&2'] }), streams);
  await promise;
  // Without the end, the process would exit by a timer of 1 ms.
  await sleep(5);
  expect(output).toEqual(['a\n']);
});

it('refuses standard input that is too long', () => {
  const codes: number[] = [];
  const process = startProcess(options({ command: ['tee', '/tmp/x'] }), {
    stdout: () => {},
    stderr: () => {},
    exit: (code) => void codes.push(code),
  });
  for (let i = 0; i < 17; i += 1) atOnce(process.stdin(Buffer.alloc(65_536, 'a')));
  process.stdinClosed();
  expect(codes).toEqual([1]);
});

it('copies files in and out as kubectl cp does', () => {
  const binary = textOfBytes(Buffer.from([0, 0xff, 0x80, 0x0a, 0xe2, 0x28]));
  const pod = { metadata: { name: 'a', namespace: 'n', uid: 'u' } } as Pod;
  const files = new PodFiles(pods, new SharedVolumes(() => undefined, ''));
  let output = '';
  const streams = { stdout: (bytes: Buffer) => void (output += textOfBytes(bytes)), stderr: () => {}, exit: () => {} };
  const unpack = startProcess(options({ pod, files, command: ['tar', '-xmf', '-', '-C', '/tmp'] }), streams);
  atOnce(
    unpack.stdin(
      bytesOfText(
        writeTar([
          { name: 'folder/a', text: 'ä' },
          { name: 'b', text: binary },
        ]),
      ),
    ),
  );
  unpack.stdinClosed();
  unpack.hangUp();
  startProcess(options({ pod, files, hasStdin: false, command: ['tar', 'cf', '-', '/tmp'] }), streams).hangUp();
  expect(readTar(output)).toEqual([
    { name: 'tmp/b', text: binary },
    { name: 'tmp/folder/a', text: 'ä' },
  ]);
});
