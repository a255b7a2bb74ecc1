import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import type { HealthCheck } from '#apiserver/server/healthz/health-checks';
import type { Durability } from '#apiserver/storage/storage';
import { reportDurability } from './durability.ts';

/** A store with variable settings, and the recorded reports. */
function startReporting(durability: Durability) {
  const lines: string[] = [];
  const checks: HealthCheck[] = [];
  const registry = new Registry();
  let now = durability;
  let changed = (): void => {};
  const storage = {
    durability: () => now,
    onDurabilityChange(listener: () => void) {
      changed = listener;
      return () => {};
    },
  };
  const line = (level: string) => (fields: object, message: string) => lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  reportDurability({ addReadyCheck: (check) => checks.push(check) }, storage, {
    log: { info: line('info'), warn: line('warn') },
    registry,
  });
  return {
    lines,
    checks: () => checks.map(({ name }) => name),
    metric: async (name: string) => (await registry.getSingleMetric(name)?.get())?.values.map(({ value }) => value),
    change(next: Partial<Durability>) {
      now = { ...now, ...next };
      changed();
    },
  };
}

const lasting: Durability = { isDurable: true, detail: 'synced', losses: 0 };

it('reports the present durability by the check and the metric, and logs each change once', async () => {
  const { lines, checks, metric, change } = startReporting(lasting);
  expect([checks(), await metric('kubenest_storage_durable')]).toEqual([['storage-durable'], [1]]);
  change({ isDurable: false, detail: 'appendfsync no' });
  change({});
  expect([checks(), await metric('kubenest_storage_durable')]).toEqual([['storage-may-lose-acknowledged-writes'], [0]]);
  change(lasting);
  expect([checks(), await metric('kubenest_storage_durable')]).toEqual([['storage-durable'], [1]]);
  expect(lines).toEqual([
    'info acknowledged writes are durable {"detail":"synced"}',
    'warn acknowledged writes may be lost {"detail":"appendfsync no"}',
    'info acknowledged writes are durable {"detail":"synced"}',
  ]);
});

it('reports a loss, also one that was found when the store was opened', async () => {
  const { lines, metric, change } = startReporting({ ...lasting, losses: 1 });
  const loss = (losses: number) =>
    `warn the store lacks writes that it may have acknowledged: its revision was raised, and watches restart {"losses":${losses}}`;
  expect(await metric('kubenest_storage_losses_total')).toEqual([1]);
  change({ losses: 2 });
  expect(await metric('kubenest_storage_losses_total')).toEqual([2]);
  expect(lines).toEqual([loss(1), 'info acknowledged writes are durable {"detail":"synced"}', loss(2)]);
});
