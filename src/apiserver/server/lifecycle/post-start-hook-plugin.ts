import { type ContributionOptions, describes } from '#apiserver/base/contribution';

/** Declares a class with `run(signal)` as a hook of a package. It runs once the server listens; /readyz waits for it. */
export function PostStartHookPlugin(options: ContributionOptions): ClassDecorator {
  return describes('PostStartHookPlugin', options);
}
