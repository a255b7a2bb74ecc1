import { vi } from 'vitest';

/**
 * Least time in milliseconds that `vi.waitFor` and `vi.waitUntil` allow, instead of vitest's second: a busy machine takes many times as
 * long as an idle one, and only a test that fails waits to the end.
 */
const leastMs = 20_000;

type Options = number | { readonly timeout?: number; readonly interval?: number };

function patiently(options: Options = {}): object {
  const { timeout = 0, ...more } = typeof options === 'number' ? { timeout: options } : options;
  return { ...more, timeout: Math.max(timeout, leastMs) };
}

const { waitFor, waitUntil } = vi;
// The files of a worker share `vi`, and each runs this module again.
if (!('isPatient' in waitFor)) {
  vi.waitFor = Object.assign(((callback, options) => waitFor(callback, patiently(options))) as typeof waitFor, { isPatient: true });
  vi.waitUntil = (callback, options) => waitUntil(callback, patiently(options));
}
