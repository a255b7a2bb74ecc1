import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { HistoryEntry } from './check-history.ts';
import { cutPower, record, type Recording } from './power-loss.ts';
import { random } from './random.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import { applyStep, noTrace, type Step } from './system-calls.ts';

/** True if the first process died with unsynced writes that the second one then read. */
function showsUnsynced({ files, steps, second }: Recording): boolean {
  const disk = new SimulatedDisk(files);
  for (const step of steps.slice(0, second)) applyStep(disk, step);
  const length = (state: ReadonlyMap<string, Buffer>): number => state.get('store.db-wal')?.length ?? 0;
  const acknowledged = revisionsIn(steps.slice(0, second), 'ack');
  const shown = revisionsIn(steps.slice(second, second + 50), 'event');
  return length(disk.afterPowerLoss(() => 0)) < length(disk.current()) && Math.max(...shown) > Math.max(1, ...acknowledged);
}

function revisionsIn(steps: readonly Step[], type: 'ack' | 'event'): number[] {
  const notes = steps.flatMap((step) => (step.type === 'note' ? [JSON.parse(step.text) as HistoryEntry] : []));
  return notes.flatMap((entry) => (entry.type === type && 'revision' in entry ? [entry.revision] : []));
}

it('a store loses no data when its disk loses power, and loses data on a disk that ignores syncs', { timeout: 180_000 }, async ({
  skip,
}) => {
  if (noTrace !== undefined) return skip(noTrace);
  const seed = Date.now() % 2 ** 31;
  const next = random(seed);
  const folder = mkdtempSync(join(tmpdir(), 'power-loss-'));
  // Without its own sync at start, SQLite would lose data that was already visible.
  let recording = await record(0, { folder, next });
  for (let tries = 1; tries < 4 && !showsUnsynced(recording); tries++) recording = await record(0, { folder, next });
  expect(showsUnsynced(recording)).toBe(true);
  expect(recording.death).toBe('fsync');
  const { violations, demanded } = await cutPower(recording, { cuts: 100, next, folder });
  expect(violations, `seed ${seed}, kept in ${folder}`).toEqual([]);
  // Enough checks to detect a loss.
  expect(demanded).toBeGreaterThan(1_000);

  const withoutSyncs = await cutPower(recording, { cuts: 30, next, folder, syncs: false });
  expect(withoutSyncs.violations.join('\n')).toMatch(/was acknowledged at \d+ and is lost/);
  rmSync(folder, { recursive: true });
});
