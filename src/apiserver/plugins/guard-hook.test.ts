import { expect, it } from 'vitest';
import { Hooks } from '#apiserver/server/lifecycle/hooks';
import { defaultGuard } from './guard-admission.ts';
import { guardHook } from './guard-hook.ts';
import { PluginFailures } from './plugin-failures.ts';

it.each<{ name: string; run: () => void | Promise<void>; message: string; reason: string }>([
  { name: 'hangs', run: () => new Promise(() => {}), message: 'package @acme/warm: not finished within 10 ms', reason: 'timeout' },
  { name: 'rejects', run: async () => thrown(), message: 'package @acme/warm: no route', reason: 'error' },
  { name: 'throws', run: () => thrown(), message: 'package @acme/warm: no route', reason: 'error' },
])('a hook that $name ends the start with its cause', async ({ run, message, reason }) => {
  const reasons: string[] = [];
  const metrics = { counter: () => ({ inc: (labels: { reason: string }) => void reasons.push(labels.reason) }) };
  const contribution = {
    described: { kind: 'PostStartHookPlugin', options: { name: 'Warm' } },
    guard: { ...defaultGuard, startTimeoutMs: 10 },
    origin: { package: '@acme/warm' },
  } as const;
  const hooks = new Hooks();
  hooks.addPostStart(guardHook({ name: '', run }, contribution, new PluginFailures({ error() {} } as never, metrics as never)));
  await expect(hooks.runPostStart(new AbortController().signal)).rejects.toThrow(`post-start hook Warm failed: ${message}`);
  expect(reasons).toEqual([reason]);
});

function thrown(): never {
  throw new Error('no route');
}
