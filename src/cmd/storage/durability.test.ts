import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import type { HealthCheck } from '#apiserver/server/healthz/health-checks';
import type { Durability } from '#apiserver/storage/storage';
import { tellDurability } from './durability.ts';

/** A store whose settings change, and what is told of it. */
function told(durability: Durability) {
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
  tellDurability({ addReadyCheck: (check) => checks.push(check) }, storage, { log: { info: line('info'), warn: line('warn') }, registry });
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

it('what is so now is in the check and the metric, and in the log once', async () => {
  const { lines, checks, metric, change } = told(lasting);
  expect([checks(), await metric('kubenest_storage_durable')]).toEqual([['storage-durable'], [1]]);
  change({ isDurable: false, detail: 'appendfsync no' });
  change({});
  expect([checks(), await metric('kubenest_storage_durable')]).toEqual([['storage-may-lose-acknowledged-writes'], [0]]);
  change(lasting);
  expect([checks(), await metric('kubenest_storage_durable')]).toEqual([['storage-durable'], [1]]);
  expect(lines).toEqual([
    'info acknowledged writes last {"detail":"synced"}',
    'warn acknowledged writes may be lost {"detail":"appendfsync no"}',
    'info acknowledged writes last {"detail":"synced"}',
  ]);
});

it('a loss is told, also one that was found when the store was opened', async () => {
  const { lines, metric, change } = told({ ...lasting, losses: 1 });
  const loss = (losses: number) =>
    `warn the store is without writes that it may have acknowledged: revisions were raised, and watches begin anew {"losses":${losses}}`;
  expect(await metric('kubenest_storage_losses_total')).toEqual([1]);
  change({ losses: 2 });
  expect(await metric('kubenest_storage_losses_total')).toEqual([2]);
  expect(lines).toEqual([loss(1), 'info acknowledged writes last {"detail":"synced"}', loss(2)]);
});
