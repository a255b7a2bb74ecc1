import type { INestApplication, OnApplicationShutdown } from '@nestjs/common';

/**
 * Resources that the application has opened, closed in reverse order. Providers register what they open at once, so that a failed start
 * closes it too: Nest calls no lifecycle hooks of an application that it could not create.
 */
export class Lifetime implements OnApplicationShutdown {
  readonly #opened = new AsyncDisposableStack();
  readonly #shutdown = new AbortController();
  #application: Pick<INestApplication, 'close'> | undefined;

  /** Aborts after the server has served its last request, before any resource is closed. */
  get shutdown(): AbortSignal {
    return this.#shutdown.signal;
  }

  use<T extends Disposable | AsyncDisposable>(opened: T): T {
    return this.#opened.use(opened);
  }

  defer(close: () => void | Promise<void> | undefined): void {
    this.#opened.defer(close);
  }

  /** Has `end` close the application, whose hooks then run first. */
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
