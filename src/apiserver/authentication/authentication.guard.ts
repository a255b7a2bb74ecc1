import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { newUnauthorized } from '#apimachinery/api/errors';
import { requestContextOf } from '#apiserver/request/execution-context';
import { headerText } from '#apiserver/request/header-text';
import type { RequestContext } from '#apiserver/request/request-context';
import type { Credentials } from './authenticator.ts';
import type { UserInfo } from '#apiserver/request/user-info';
import { IdentityHeaders } from './identity-headers.ts';
import { UnionAuthenticator, withAuthenticatedGroup } from './union.ts';

/**
 * Authenticates a request by the union of the enabled authenticators and removes its credentials. It runs in the handler chain; on
 * a Nest controller it admits requests that the chain authenticated.
 */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(
    @Inject(UnionAuthenticator) private readonly authenticator: UnionAuthenticator,
    @Inject(IdentityHeaders) private readonly identityHeaders: IdentityHeaders,
  ) {}

  /** Throws Unauthorized, without a reason, as the chain answers. */
  async canActivate(execution: ExecutionContext): Promise<boolean> {
    if (await this.#isKnown(requestContextOf(execution))) return true;
    throw newUnauthorized('Unauthorized');
  }

  async #isKnown(context: RequestContext): Promise<boolean> {
    try {
      return await this.authenticate(context);
    } catch {
      return false;
    }
  }

  /** Returns true if the request has a user now. Throws AuthenticationFailedError for wrong credentials. */
  authenticate(context: RequestContext): boolean | Promise<boolean> {
    if (context.user) return true;
    const credentials = new RequestCredentials(context);
    const { trace } = context;
    const answer = trace ? this.authenticator.authenticateTraced(credentials, trace) : this.authenticator.authenticate(credentials);
    return answer instanceof Promise ? answer.then((user) => this.#accept(context, user)) : this.#accept(context, answer);
  }

  #accept(context: RequestContext, user: UserInfo | undefined): boolean {
    if (!user) return false;
    this.identityHeaders.remove(context.exchange);
    context.user = withAuthenticatedGroup(user);
    return true;
  }
}

/** Credentials of a request in the chain. */
class RequestCredentials implements Credentials {
  readonly headers: Credentials['headers'];
  readonly peer: Credentials['peer'];
  readonly path: string;

  constructor(private readonly context: RequestContext) {
    this.headers = context.exchange.headers;
    this.peer = context.exchange.peer;
    this.path = context.path;
  }

  headerValues(name: string): string[] {
    return this.context.exchange.headerValues(name).map(headerText);
  }

  warn(text: string): void {
    this.context.warn(text);
  }

  annotate(key: string, value: string): void {
    this.context.auditAnnotations?.set(key, value);
  }
}
