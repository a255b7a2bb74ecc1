import type { UserInfo } from '#apiserver/request/user-info';
import type { Exchange } from '#apiserver/request/exchange';
import type { GenericServer } from '#apiserver/server/generic-server';
import { ServerPart } from '#cmd/modules/server-part';

/** In-process requests for an authenticated user. Plugins receive it before the server exists, and can use it once the server serves. */
@ServerPart()
export class UserRequests implements ServerPart {
  #server: GenericServer | undefined;

  install(server: GenericServer): void {
    this.#server = server;
  }

  readonly serve = (exchange: Exchange, user: UserInfo): void => {
    if (!this.#server) throw new Error('plugins cannot send requests before the server starts');
    this.#server.serveAs(exchange, user);
  };
}
