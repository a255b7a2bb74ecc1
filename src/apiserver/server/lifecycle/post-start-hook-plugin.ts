import { type ContributionOptions, describes, type PluginClass } from '#apiserver/base/contribution';
import type { PostStartHook } from './hooks.ts';

/** Declares a class with `run(signal)` as a hook of a package. It runs once the server listens; /readyz waits for it. */
export function PostStartHookPlugin(options: ContributionOptions): (type: PluginClass<Pick<PostStartHook, 'run'>>) => void {
  return describes('PostStartHookPlugin', options);
}
