import { expect, it } from 'vitest';
import { obstacle, runControllers, runOwnCluster } from './run.ts';

/**
 * Error lines that controllers log in some runs on any server: two workers assign a pod CIDR to the same node; a controller
 * processes an object before its own write has arrived by the watch; admission has updated a quota meanwhile.
 */
const races = [
  / range_allocator\.go:\d+\]/,
  /Operation cannot be fulfilled on .*the object has been modified/,
  /read version: \d+ is not as new as written version: \d+/,
];

it('kube-controller-manager, kube-scheduler, kwok, kubectl and helm work as on the real server', async ({ skip }) => {
  const reason = obstacle();
  if (reason !== undefined) skip(reason);
  const { kubenest, real } = await runControllers();
  expect(kubenest.times.map(({ step }) => step)).toEqual(real.times.map(({ step }) => step));
  const own = [...kubenest.errors].filter(([place, line]) => !real.errors.has(place) && !races.some((race) => race.test(line)));
  expect(own, 'errors that the controllers report on kubenest only').toEqual([]);
}, 600_000);

it('kubectl and helm work with the own controllers, scheduler and simulated nodes', async ({ skip }) => {
  const reason = obstacle();
  if (reason !== undefined) skip(reason);
  const times = await runOwnCluster();
  expect(times.at(-1)?.step).toBe('cron job has run');
}, 300_000);
