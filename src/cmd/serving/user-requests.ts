import type { UserInfo } from '#apiserver/request/user-info';
import type { Exchange } from '#apiserver/request/exchange';
import type { GenericServer } from '#apiserver/server/generic-server';
import { ServerPart } from '#cmd/modules/server-part';

/** Requests in process for a known user. Plugins, which the server is made of, hold it before the server exists, and use it once it serves. */
@ServerPart()
export class UserRequests implements ServerPart {
  #server: GenericServer | undefined;

  install(server: GenericServer): void {
    this.#server = server;
  }

  readonly serve = (exchange: Exchange, user: UserInfo): void => {
    if (!this.#server) throw new Error('requests of plugins cannot be served before the server starts');
    this.#server.serveAs(exchange, user);
  };
}
