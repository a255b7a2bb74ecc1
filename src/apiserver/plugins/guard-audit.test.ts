import { expect, it } from 'vitest';
import type { AuditEvent } from '#apiserver/audit/event';
import { defaultGuard } from './guard-admission.ts';
import { GuardedAuditBackend } from './guard-audit.ts';
import { PluginFailures } from './plugin-failures.ts';

const thrown = (): never => {
  throw new TypeError('undefined is not a function');
};

it.each<{ name: string; process: () => unknown; kept: boolean; counted: string[] }>([
  { name: 'keeps events', process: () => true, kept: true, counted: [] },
  { name: 'loses events', process: async () => false, kept: false, counted: [] },
  { name: 'throws', process: thrown, kept: false, counted: ['error'] },
  { name: 'rejects', process: async () => thrown(), kept: false, counted: ['error'] },
  { name: 'hangs', process: () => new Promise(() => {}), kept: false, counted: ['timeout'] },
  { name: 'returns a text', process: () => 'yes', kept: false, counted: ['error'] },
])('an audit backend that $name', async ({ process, kept, counted }) => {
  const reasons: string[] = [];
  const metrics = { counter: () => ({ inc: (labels: { reason: string }) => void reasons.push(labels.reason) }) };
  const contribution = {
    described: { kind: 'AuditBackendPlugin', options: { name: 'Ledger' } },
    guard: { ...defaultGuard, timeoutMs: 10 },
    origin: { package: '@acme/ledger' },
  } as const;
  const failures = new PluginFailures({ error() {} } as never, metrics as never);
  const backend = new GuardedAuditBackend({ process: process as () => boolean }, contribution, failures);
  expect(await backend.process([{} as AuditEvent])).toBe(kept);
  await backend.shutDown();
  expect(reasons).toEqual(counted);
});
