import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { errorOf } from './error-of.ts';

/** The package of a contribution. */
export interface PluginOrigin {
  readonly package: string;
  /** Absolute path of the package's folder. */
  readonly folder?: string | undefined;
  /** The module that contributes it, relative to the package's folder. */
  readonly file?: string | undefined;
  readonly version?: string | undefined;
  /** The configured integrity, which the package's files have. */
  readonly integrity?: string | undefined;
}

const current = new AsyncLocalStorage<PluginOrigin>();

/** Runs work of a plugin: `run(() => plugin.admit(request))`. */
export type RunPlugin = <T>(work: () => T) => T;

/**
 * Returns a function that runs work of a package, so that errors in the timers, streams and promises that it starts are attributed to the
 * package, and so that what it throws is an error that can be read. An AsyncResource does the same as `AsyncLocalStorage.snapshot` for half
 * of its cost.
 */
export function runnerOf(origin: PluginOrigin | undefined): RunPlugin {
  if (!origin) return (work) => work();
  const resource = current.run(origin, () => new AsyncResource('PLUGIN'));
  return (work) => {
    try {
      return resource.runInAsyncScope(work);
    } catch (thrown) {
      throw errorOf(thrown);
    }
  };
}

/**
 * Like `runnerOf`, but the work keeps the other contexts of its caller, such as the trace of a reconcile. It costs more for each call.
 */
export function runnerInContext(origin: PluginOrigin): RunPlugin {
  return (work) => {
    try {
      return current.run(origin, work);
    } catch (thrown) {
      throw errorOf(thrown);
    }
  };
}

/** Returns the package that started the current work; undefined for work of the server. */
export function currentPlugin(): PluginOrigin | undefined {
  return current.getStore();
}
