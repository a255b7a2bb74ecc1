import type { ReconcileRequest } from './controller.ts';

/**
 * Adds requests to the queue of a controller from sources other than its watches, such as timers. Requests while it does not run are
 * dropped.
 */
export interface RequestQueue {
  add(request: ReconcileRequest): void;
  /** Adds the request after a delay in milliseconds. If an object has several delays, the one that ends first counts. */
  addAfter(request: ReconcileRequest, delayMs: number): void;
}

export const RequestQueue = Symbol.for('kubenest.RequestQueue');

/** A queue that a controller gets before it runs. */
export class LateRequestQueue implements RequestQueue {
  #queue: RequestQueue | undefined;

  add(request: ReconcileRequest): void {
    this.#queue?.add(request);
  }

  addAfter(request: ReconcileRequest, delayMs: number): void {
    this.#queue?.addAfter(request, delayMs);
  }

  /** Passes requests on until the result is disposed of. */
  connect(queue: RequestQueue): Disposable {
    this.#queue = queue;
    return {
      [Symbol.dispose]: () => {
        if (this.#queue === queue) this.#queue = undefined;
      },
    };
  }
}
