import { systemClock } from '#apiserver/base/clock';
import { LoopLimit } from '#apiserver/base/loop-limit';
import { TurnQueue } from '#apiserver/base/turn-queue';
import type { UserInfo } from '#apiserver/request/user-info';
import type { Exchange } from '#apiserver/request/exchange';
import type { GenericServer } from '#apiserver/server/generic-server';
import { ServerPart } from '#cmd/modules/server-part';

/**
 * Requests of controllers in progress while the event loop is busy, and while it mostly waits for the store. As many may end in one turn of
 * the event loop, because the store acknowledges writes in batches (docs/results/performance.md has the figures).
 */
const [busyRequests, idleRequests] = [1, 8];
/**
 * Requests of other plugins in progress. They may be within a request of a controller, which waits for them, so they have their own limit.
 */
const pluginRequests = 8;
/**
 * A request that lasts longer, for example as a watch, no longer counts, so that it delays no others. While the event loop mostly waits,
 * one that waits for something, for example a webhook or a request of its own, stops to count earlier.
 */
const countedMs = 100;

/**
 * In-process requests for an authenticated user. Plugins receive it before the server exists, and can use it once the server serves. The
 * requests of all plugins and controllers together leave each event loop turn time for those of clients.
 */
@ServerPart()
export class UserRequests implements ServerPart {
  #server: GenericServer | undefined;
  readonly #turns = new TurnQueue();
  readonly #ofControllers = new LoopLimit(busyRequests, idleRequests);
  readonly #ofPlugins = new LoopLimit(pluginRequests, pluginRequests);

  install(server: GenericServer): void {
    this.#server = server;
  }

  /** Serves a request of a plugin other than a controller. */
  readonly serve = (exchange: Exchange, user: UserInfo): void => {
    this.#ofPlugins.run(this.#served(exchange, user));
  };

  readonly serveController = (exchange: Exchange, user: UserInfo): void => this.#ofControllers.run(this.#served(exchange, user));

  /** Returns a function that begins a request; its promise resolves when the request no longer counts. */
  #served(exchange: Exchange, user: UserInfo): () => Promise<void> {
    const server = this.#server;
    if (!server) throw new Error('plugins cannot send requests before the server starts');
    return () => {
      const counted = closedOrLong(exchange);
      this.#turns.run(() => server.serveAs(exchange, user));
      return counted;
    };
  }
}

/** Resolves when the exchange is closed, after `countedMs` at the latest. */
function closedOrLong(exchange: Exchange): Promise<void> {
  return new Promise((resolve) => {
    const cancel = systemClock.after(countedMs, resolve);
    exchange.onClose(() => {
      cancel();
      resolve();
    });
  });
}
