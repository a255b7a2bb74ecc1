import { type PluginFailures, type PluginName, reasonOf } from './plugin-failures.ts';
import { type PluginOrigin, runnerOf } from './plugin-origin.ts';
import { within } from './within.ts';

/**
 * Optional methods by which an instance of a contribution releases what it holds. The server calls the first that the instance has, once.
 */
export interface DisposablePlugin {
  [Symbol.asyncDispose]?(): PromiseLike<void>;
  [Symbol.dispose]?(): void;
  dispose?(): void | PromiseLike<void>;
}

/** An instance of a contribution, with the data needed to dispose of it. */
export interface PluginInstance {
  readonly plugin: PluginName;
  readonly instance: object;
  readonly origin: PluginOrigin | undefined;
  readonly timeoutMs: number;
}

/** Disposes of an instance that is no longer used. A method that throws or takes too long is a failure of the plugin. */
export async function disposePlugin({ plugin, instance, origin, timeoutMs }: PluginInstance, failures: PluginFailures): Promise<void> {
  try {
    await within(
      runnerOf(origin)(() => disposeOf(instance)),
      timeoutMs,
    );
  } catch (error) {
    failures.record(plugin, reasonOf(error), error, { phase: 'dispose' });
  }
}

/** Calls the method by which an instance releases what it holds, if it has one. */
export async function disposeOf(instance: object): Promise<void> {
  const own = instance as DisposablePlugin;
  const dispose: (() => unknown) | undefined = own[Symbol.asyncDispose] ?? own[Symbol.dispose] ?? own.dispose;
  if (typeof dispose === 'function') await dispose.call(own);
}

/** The instances of contributions that are in use. Disposal disposes of all. */
export class PluginInstances implements AsyncDisposable {
  readonly #used = new Set<PluginInstance>();

  constructor(private readonly failures: PluginFailures) {}

  add(instance: PluginInstance): void {
    this.#used.add(instance);
  }

  /** Disposes of an instance, once. */
  async dispose(instance: object): Promise<void> {
    for (const one of this.#used) {
      if (one.instance !== instance) continue;
      this.#used.delete(one);
      await disposePlugin(one, this.failures);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#used];
    this.#used.clear();
    await Promise.all(all.map((one) => disposePlugin(one, this.failures)));
  }
}
