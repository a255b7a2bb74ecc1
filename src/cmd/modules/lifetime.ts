import type { INestApplication, OnApplicationShutdown } from '@nestjs/common';

/**
 * What the application has opened, closed in the reverse of the order in which it was opened. Providers hand over what they open at once, so a
 * start that fails closes it, too: Nest calls no lifecycle hooks of an application that it could not create.
 */
export class Lifetime implements OnApplicationShutdown {
  readonly #opened = new AsyncDisposableStack();
  readonly #shutdown = new AbortController();
  #application: Pick<INestApplication, 'close'> | undefined;

  /** Aborts when the server has served its last request, before anything is closed. */
  get shutdown(): AbortSignal {
    return this.#shutdown.signal;
  }

  use<T extends Disposable | AsyncDisposable>(opened: T): T {
    return this.#opened.use(opened);
  }

  defer(close: () => void | Promise<void>): void {
    this.#opened.defer(close);
  }

  /** From now on `end` closes the application, whose hooks run first. */
  belongTo(application: Pick<INestApplication, 'close'>): void {
    this.#application = application;
  }

  async end(): Promise<void> {
    this.#shutdown.abort();
    await (this.#application ? this.#application.close() : this.#opened.disposeAsync());
  }

  onApplicationShutdown(): Promise<void> {
    return this.#opened.disposeAsync();
  }
}
