import { type ContributionOptions, describes } from '#apiserver/base/contribution';

/** Marks a class with `run(signal)` as a hook of a package: it runs once the server listens, and /readyz waits for it. */
export function PostStartHookPlugin(options: ContributionOptions): ClassDecorator {
  return describes('PostStartHookPlugin', options);
}
