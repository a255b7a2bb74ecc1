import { TurnQueue } from '#apiserver/base/turn-queue';
import type { UserInfo } from '#apiserver/request/user-info';
import type { Exchange } from '#apiserver/request/exchange';
import type { GenericServer } from '#apiserver/server/generic-server';
import { ServerPart } from '#cmd/modules/server-part';

/**
 * In-process requests for an authenticated user. Plugins receive it before the server exists, and can use it once the server serves. The
 * requests of all plugins and controllers together leave each event loop turn time for those of clients.
 */
@ServerPart()
export class UserRequests implements ServerPart {
  #server: GenericServer | undefined;
  readonly #turns = new TurnQueue();

  install(server: GenericServer): void {
    this.#server = server;
  }

  readonly serve = (exchange: Exchange, user: UserInfo): void => {
    const server = this.#server;
    if (!server) throw new Error('plugins cannot send requests before the server starts');
    this.#turns.run(() => server.serveAs(exchange, user));
  };
}
