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
  const stray = new StrayErrors({ error: () => void (logged += 1) } as never, metrics as never, () => {
    ended = true;
  });
  const process = new EventEmitter();
  using _listening = stray.listen(process as NodeJS.Process);
  // The event of a timer that the plugin started, as Node emits it in the context of the timer.
  const emitted = once(process, kind);
  runnerOf(origin)(() => setTimeout(() => process.emit(kind, new Error('late')), 1));
  await emitted;
  expect({ counts, ended, logged }).toEqual({ counts: counted ? [counted] : [], ended: ends, logged: 1 });
});
