import { describe, expect, it } from 'vitest';
import { absent, backendNames } from '../servers/backends.ts';
import { runGreedyClients } from './greedy-clients.ts';

// What is measured is milliseconds, on a machine that others use.
describe.each(backendNames)('500 greedy workers of one user, on %s', (backend) => {
  it('hold up no lease of a node or a leader', { timeout: 120_000, retry: 2 }, async ({ skip, annotate }) => {
    if (absent[backend]) skip(absent[backend]);
    const { violations, ...figures } = await runGreedyClients(3, backend);
    await annotate(JSON.stringify(figures));
    expect(violations).toEqual([]);
  });
});
