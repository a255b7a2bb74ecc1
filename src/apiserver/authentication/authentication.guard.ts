import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { requestContextOf } from '#apiserver/endpoints/request/execution-context';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import type { UserInfo } from './authenticator.ts';
import { UnionAuthenticator, withAuthenticatedGroup } from './union.ts';

/**
 * Finds out who asks, by the union of the enabled authenticators, and takes the credentials off the request. It has its
 * place in the handler chain; on a Nest controller it lets through what the chain has authenticated.
 */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(@Inject(UnionAuthenticator) private readonly authenticator: UnionAuthenticator) {}

  canActivate(execution: ExecutionContext): boolean | Promise<boolean> {
    const context = requestContextOf(execution);
    return context.user ? true : this.authenticate(context);
  }

  /** Whether there is a user now. Throws AuthenticationFailedError for wrong credentials. */
  authenticate(context: RequestContext): boolean | Promise<boolean> {
    const { exchange } = context;
    const answer = this.authenticator.authenticate({ headers: exchange.headers, peer: exchange.peer, path: context.path });
    return answer instanceof Promise ? answer.then((user) => this.#accept(context, user)) : this.#accept(context, answer);
  }

  #accept(context: RequestContext, user: UserInfo | undefined): boolean {
    if (!user) return false;
    delete context.exchange.headers.authorization;
    context.user = withAuthenticatedGroup(user);
    return true;
  }
}
