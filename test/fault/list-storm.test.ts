import { expect, it } from 'vitest';
import { type forms, runListStorm } from './list-storm.ts';

it.each<{ form: keyof typeof forms; pods: number; megabytes: number }>([
  { form: 'json', pods: 10_000, megabytes: 30 },
  // So many that it is made as it is sent.
  { form: 'protobuf', pods: 16_000, megabytes: 48 },
  { form: 'gzip', pods: 16_000, megabytes: 48 },
])(
  '32 clients that list $megabytes MB at once as $form share its bytes, and hold nobody up for a second',
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
