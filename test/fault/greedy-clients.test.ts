import { describe, expect, it } from 'vitest';
import { absent, backendNames } from '../servers/backends.ts';
import { fewestViolations } from './fewest-violations.ts';
import { runGreedyClients } from './greedy-clients.ts';

describe.each(backendNames)('500 greedy workers of one user, on %s', (backend) => {
  it('do not delay the leases of nodes or leaders', { timeout: 240_000 }, async ({ skip, annotate }) => {
    if (absent[backend]) skip(absent[backend]);
    const { violations, ...figures } = await fewestViolations(() => runGreedyClients(3, backend));
    await annotate(JSON.stringify(figures));
    expect(violations).toEqual([]);
  });
});
