import { expect, it } from 'vitest';
import { type forms, runListStorm } from './list-storm.ts';

it.each<{ form: keyof typeof forms; pods: number; megabytes: number }>([
  { form: 'json', pods: 10_000, megabytes: 30 },
  // Enough pods for an incrementally encoded list.
  { form: 'protobuf', pods: 16_000, megabytes: 48 },
  { form: 'gzip', pods: 16_000, megabytes: 48 },
])(
  '32 clients that list $megabytes MB concurrently as $form share its bytes and delay no other client by a second',
  {
    timeout: 180_000,
  },
  async ({ form, pods }) => {
    const { violations, dataset, most, getP99Ms } = await runListStorm(pods, 32, form);
    expect(violations).toEqual([]);
    expect(most).toBeLessThan(dataset + 300);
    expect(getP99Ms).toBeLessThan(1_000);
  },
);
