import { describe, expect, it } from 'vitest';
import { absent, backendNames } from '../servers/backends.ts';
import { runGreedyClients } from './greedy-clients.ts';

// Measures milliseconds on a shared machine.
describe.each(backendNames)('500 greedy workers of one user, on %s', (backend) => {
  it('do not delay the leases of nodes or leaders', { timeout: 120_000, retry: 2 }, async ({ skip, annotate }) => {
    if (absent[backend]) skip(absent[backend]);
    const { violations, ...figures } = await runGreedyClients(3, backend);
    await annotate(JSON.stringify(figures));
    expect(violations).toEqual([]);
  });
});
