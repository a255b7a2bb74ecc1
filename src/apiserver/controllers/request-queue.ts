import type { ReconcileRequest } from './controller.ts';

/** Adds requests to the queue of a controller from sources other than its watches, such as timers. Requests while it does not run are dropped. */
export interface RequestQueue {
  add(request: ReconcileRequest): void;
}

export const RequestQueue = Symbol.for('kubenest.RequestQueue');

/** A queue that a controller gets before it runs. */
export class LateRequestQueue implements RequestQueue {
  #add: ((request: ReconcileRequest) => void) | undefined;

  add(request: ReconcileRequest): void {
    this.#add?.(request);
  }

  /** Passes requests on until the result is disposed of. */
  connect(add: (request: ReconcileRequest) => void): Disposable {
    this.#add = add;
    return {
      [Symbol.dispose]: () => {
        if (this.#add === add) this.#add = undefined;
      },
    };
  }
}
