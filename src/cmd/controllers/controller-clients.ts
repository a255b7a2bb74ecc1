import { Inject, Injectable } from '@nestjs/common';
import { ConcurrencyLimit } from '#apiserver/base/concurrency-limit';
import type { UserInfo } from '#apiserver/request/user-info';
import { UserClient } from '#apiserver/server/user-client';
import { UserRequests } from '#cmd/serving/user-requests';

/**
 * Requests that a controller may have in progress. It creates hundreds of pods at once, and requests that begin or end together block the
 * event loop together.
 */
const maxRequests = 16;

/** Creates the clients of the controllers, each with its own limit of requests. */
@Injectable()
export class ControllerClients {
  constructor(@Inject(UserRequests) private readonly requests: UserRequests) {}

  of(user: UserInfo, userAgent: string): UserClient {
    return new UserClient(this.requests.serveController, user, userAgent, new ConcurrencyLimit(maxRequests));
  }
}
