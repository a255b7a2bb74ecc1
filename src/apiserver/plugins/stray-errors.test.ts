import { EventEmitter, once } from 'node:events';
import { expect, it } from 'vitest';
import { runnerOf } from './plugin-origin.ts';
import { StrayErrors } from './stray-errors.ts';

it.each([
  { kind: 'uncaughtException', origin: { package: '@acme/a', file: 'dist/index.js' }, counted: '@acme/a uncaughtException', ends: false },
  { kind: 'unhandledRejection', origin: { package: '@acme/a' }, counted: '@acme/a unhandledRejection', ends: false },
  { kind: 'uncaughtException', origin: undefined, counted: undefined, ends: true },
  { kind: 'unhandledRejection', origin: undefined, counted: undefined, ends: false },
] as const)('$kind of $origin: counted $counted, ends the process: $ends', async ({ kind, origin, counted, ends }) => {
  const counts: string[] = [];
  let ended = false;
  let logged = 0;
  const metrics = {
    counter: () => ({ inc: (labels: Record<string, string>) => void counts.push(`${labels['package']} ${labels['reason']}`) }),
  };
  const stray = new StrayErrors(
    { error: () => void (logged += 1) } as never,
    metrics as never,
    () => [],
    () => (ended = true),
  );
  const process = new EventEmitter();
  using _listening = stray.listen(process as NodeJS.Process);
  // The event of a timer that the plugin started, as Node emits it in the context of the timer.
  const emitted = once(process, kind);
  runnerOf(origin)(() => setTimeout(() => process.emit(kind, new Error('late')), 1));
  await emitted;
  expect({ counts, ended, logged }).toEqual({ counts: counted ? [counted] : [], ended: ends, logged: 1 });
});

it.each([
  { stack: ['at t (file:///p/a/dist/index.js:1:2)', 'at listOnTimeout (node:internal/timers:1:2)'], ends: false },
  { stack: ['at t (/p/a/node_modules/b/index.js:1:2)', 'at u (/p/a/dist/index.js:1:2)'], ends: false },
  { stack: ['at t (file:///p/a/dist/index.js:1:2)', 'at run (file:///p/server/dist/run.js:1:2)'], ends: true },
  { stack: ['at t (file:///p/ab/dist/index.js:1:2)'], ends: true },
  { stack: ['at run (file:///p/a/node_modules/kubenest/dist/run.js:1:2)'], ends: true },
  { stack: ['at listOnTimeout (node:internal/timers:1:2)'], ends: true },
  { stack: ['at t (/p/a/dist/index.js:1:2)', 'at run (/a server/dist/run.js:1:2)'], ends: true },
  { stack: ['at t (file:///p/a/dist/my%20index.js:1:2)', 'at /p/a/dist/u.js:1:2'], ends: false },
  { stack: ['at t (/p/a/dist/index.js:1:2)', 'at run (file:///%2f/%zz.js:1:2)'], ends: true },
  { message: 'no such file: /etc/x:1\n    at run (/etc/y:1:2)', stack: ['at t (/p/a/dist/index.js:1:2)'], ends: false },
  { message: '/p/a/dist/index.js:1', stack: ['at listOnTimeout (node:internal/timers:1:2)'], ends: true },
  { message: ' file:///%zz:1', stack: ['at t (/p/a/dist/index.js:1:2)'], ends: false },
  { message: `    at ${' (/'.repeat(100_000)}\n`.repeat(3), stack: ['at t (/p/a/dist/index.js:1:2)'], ends: false },
])(
  'an exception without context belongs to the package whose code alone is in its stack: $stack, ends the process: $ends',
  ({ message = 'late', stack, ends }: { message?: string; stack: readonly string[]; ends: boolean }) => {
    let ended = false;
    const metrics = { counter: () => ({ inc: () => {} }) };
    const packages = () => [{ package: '@acme/a', folder: '/p/a' }];
    const stray = new StrayErrors({ error: () => {} } as never, metrics as never, packages, () => (ended = true));
    const error = new Error(message);
    error.stack = [`Error: ${message}`, ...stack].join('\n    ');
    stray.handle('uncaughtException', error);
    expect(ended).toBe(ends);
  },
);

it('a rejection whose value cannot be read is logged', () => {
  const logged: unknown[] = [];
  const log = {
    error: ({ err }: { readonly err: Error }, message: string) => void logged.push(`${message}: ${err.message}`),
  };
  const metrics = { counter: () => ({ inc: () => {} }) };
  const stray = new StrayErrors(
    log as never,
    metrics as never,
    () => [],
    () => {},
  );
  const unreadable = Object.defineProperty(new Error(), 'message', {
    get() {
      throw new Error('no message');
    },
  });
  stray.handle('unhandledRejection', unreadable);
  expect(logged).toEqual(['unhandled promise rejection: no message']);
});
