import { systemClock } from '#apiserver/base/clock';
import { LoopLimit } from '#apiserver/base/loop-limit';
import { TurnQueue } from '#apiserver/base/turn-queue';
import type { UserInfo } from '#apiserver/request/user-info';
import type { Exchange } from '#apiserver/request/exchange';
import type { GenericServer } from '#apiserver/server/generic-server';
import { ServerPart } from '#cmd/modules/server-part';

/**
 * Requests in progress while the event loop is busy, and while it mostly waits for the store. As many may end in one turn of the event loop,
 * because the store acknowledges writes in batches.
 */
const [busyRequests, idleRequests] = [4, 8];
/** A request that lasts longer, for example because of a webhook or as a watch, no longer counts, so that it delays no others. */
const countedMs = 100;

/**
 * In-process requests for an authenticated user. Plugins receive it before the server exists, and can use it once the server serves. The
 * requests of all plugins and controllers together leave each event loop turn time for those of clients.
 */
@ServerPart()
export class UserRequests implements ServerPart {
  #server: GenericServer | undefined;
  readonly #turns = new TurnQueue();
  readonly #limit = new LoopLimit(busyRequests, idleRequests);

  install(server: GenericServer): void {
    this.#server = server;
  }

  readonly serve = (exchange: Exchange, user: UserInfo): void => {
    const server = this.#server;
    if (!server) throw new Error('plugins cannot send requests before the server starts');
    this.#limit.run(() => {
      const counted = closedOrLong(exchange);
      this.#turns.run(() => server.serveAs(exchange, user));
      return counted;
    });
  };
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
