import { redactSecrets } from '#apiserver/base/secrets';
import type { PluginGuard } from './guard-admission.ts';
import type { PluginPolicy } from './policy/plugin-policy.ts';

/** A plugin package in a ServerConfiguration. */
export interface PluginRequest {
  /** Package name, or the path of its folder (`./plugins/labels`). */
  readonly package: string;
  readonly integrity?: string | undefined;
  /** Names of the contributions to load; undefined: all. */
  readonly contributions?: readonly string[] | undefined;
  /** Configurations by contribution name. */
  readonly configuration?: Readonly<Record<string, unknown>> | undefined;
  /** Policies of admission plugins by contribution name. */
  readonly policies?: ReadonlyMap<string, PluginPolicy> | undefined;
  /** Failure handling of its admission plugins; `defaultGuard` applies to omitted members. */
  readonly guard?: Partial<PluginGuard> | undefined;
  /** `worker` runs the package in a thread of its own. Default: in the thread of the server. */
  readonly isolation?: 'worker' | undefined;
  /** Memory limit in MiB of the thread's objects. */
  readonly memoryMiB?: number | undefined;
}

/** All problems that prevented packages from loading, one sentence each, without secrets. */
export class PluginLoadError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const shown = problems.map(redactSecrets);
    super(shown.join('\n'));
    this.name = 'PluginLoadError';
    this.problems = shown;
  }
}
