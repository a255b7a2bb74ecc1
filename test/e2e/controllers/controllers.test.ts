import { expect, it } from 'vitest';
import { obstacle, runControllers } from './run.ts';

/** Races between the controllers themselves, which the real server sees in some runs: two workers give a node its pod CIDR. */
const races = ['kcm range_allocator.go:257', 'kcm range_allocator.go:438', 'kcm range_allocator.go:444'];

it('kube-controller-manager, kube-scheduler, kwok, kubectl and helm work as on the real server', async ({ skip }) => {
  const reason = obstacle();
  if (reason !== undefined) skip(reason);
  const { kubenest, real } = await runControllers();
  expect(kubenest.times.map(({ step }) => step)).toEqual(real.times.map(({ step }) => step));
  const own = [...kubenest.errors].filter(([place]) => !real.errors.has(place) && !races.includes(place));
  expect(own, 'errors that the controllers report on kubenest only').toEqual([]);
}, 600_000);
