import type { PostStartHook } from '#apiserver/server/lifecycle/hooks';
import type { Guarded } from './guard-access.ts';
import { type PluginFailures, reasonOf } from './plugin-failures.ts';
import { runnerOf } from './plugin-origin.ts';
import { errorOf } from './error-of.ts';
import { TimeoutError, within } from './within.ts';

/**
 * Limits the duration of a package's hook. A hook that fails or takes longer ends the start, with an error that names its package and the
 * cause. `run` must not await work that continues after the start.
 */
export function guardHook(hook: PostStartHook, { described, guard, origin }: Guarded, failures: PluginFailures): PostStartHook {
  const { name } = described.options;
  const { startTimeoutMs } = guard;
  const run = runnerOf(origin);
  return {
    name,
    async run(signal) {
      try {
        await within(Promise.resolve(run(() => hook.run(signal))), startTimeoutMs);
      } catch (thrown) {
        const cause = errorOf(thrown);
        failures.record({ sort: 'post-start hook', name, package: origin?.package }, reasonOf(cause), cause);
        const why = cause instanceof TimeoutError ? `not finished within ${startTimeoutMs} ms` : cause.message;
        throw new Error(origin ? `package ${origin.package}: ${why}` : why, { cause });
      }
    },
  };
}
