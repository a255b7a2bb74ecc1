import type { HealthCheck } from '#apiserver/server/healthz/health-checks';

/** Runs once the server listens; `signal` aborts at shutdown. An error ends the process. */
export interface PostStartHook {
  readonly name: string;
  run(signal: AbortSignal): Promise<void> | void;
}
/** Runs at the start of a shutdown, while requests are still served. */
export interface PreShutdownHook {
  readonly name: string;
  run(): Promise<void> | void;
}

/** Post-start and pre-shutdown hooks. Each post-start hook has a health check of its name. Upstream: apiserver/pkg/server/hooks.go. */
export class Hooks {
  readonly #postStart: PostStartHook[] = [];
  readonly #preShutdown: PreShutdownHook[] = [];
  readonly #finished = new Set<string>();
  #started = false;

  /** Adds a hook. Throws for a duplicate name, and after the hooks have run. */
  addPostStart(hook: PostStartHook): void {
    if (this.#started) throw new Error(`post-start hook ${hook.name} was added after the start`);
    if (this.#postStart.some(({ name }) => name === hook.name)) throw new Error(`post-start hook ${hook.name} is registered twice`);
    this.#postStart.push(hook);
  }

  addPreShutdown(hook: PreShutdownHook): void {
    if (this.#preShutdown.some(({ name }) => name === hook.name)) throw new Error(`pre-shutdown hook ${hook.name} is registered twice`);
    this.#preShutdown.push(hook);
  }

  /** Runs all hooks. Rejects with the first error. */
  async runPostStart(signal: AbortSignal): Promise<void> {
    this.#started = true;
    await Promise.all(
      this.#postStart.map(async (hook) => {
        try {
          await hook.run(signal);
        } catch (cause) {
          throw new Error(`post-start hook ${hook.name} failed: ${(cause as Error).message}`, { cause });
        }
        this.#finished.add(hook.name);
      }),
    );
  }

  async runPreShutdown(): Promise<void> {
    await Promise.all(this.#preShutdown.map(async (hook) => hook.run()));
  }

  get checks(): HealthCheck[] {
    return this.#postStart.map(({ name }) => ({
      name: `poststarthook/${name}`,
      check: () => {
        if (!this.#finished.has(name)) throw new Error('not finished');
      },
    }));
  }
}
