import { expect, test } from 'vitest';
import { apiServerId } from './identity-lease.ts';

test('computes the same machine identity as the real server', () => {
  expect(apiServerId('vm')).toBe('apiserver-wlv32tlttr4jl3gtroqexyxapa');
});
