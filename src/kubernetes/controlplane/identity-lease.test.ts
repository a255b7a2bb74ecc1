import { expect, test } from 'vitest';
import { apiServerId } from './identity-lease.ts';

test('the identity of a machine is that of the real server on it', () => {
  expect(apiServerId('vm')).toBe('apiserver-wlv32tlttr4jl3gtroqexyxapa');
});
