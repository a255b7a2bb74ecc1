import { expect, it } from 'vitest';
import { defaultGuard } from '../guard-admission.ts';
import type { CallOutcome } from './messages.ts';
import { PluginWorker } from './plugin-worker.ts';

it('does not parse an object that is much larger than the store accepts', () => {
  const worker = new PluginWorker('large', { request: { package: './large' }, folder: '/', verified: undefined }, defaultGuard, 64);
  const outcome = (object: string): CallOutcome => ({ type: 'done', id: 1, warnings: [], annotations: [], notes: [], object }) as never;
  expect(worker.objectOf(outcome('{"a":1}'))).toEqual({ a: 1 });
  expect(() => worker.objectOf(outcome(`"${'x'.repeat(17_000_000)}"`))).toThrow('sent an object of 17000002 characters');
});
