import PassportStrategy from 'passport-strategy';
import type { Authenticator, Credentials } from './authenticator.ts';
import type { UserInfo } from '#apiserver/request/user-info';

/**
 * An authenticator of the server as a passport strategy. Its base class is that of passport, from the package `passport-strategy`.
 * `authenticate` calls exactly one of the actions, synchronously or later:
 *
 * | action | meaning |
 * |---|---|
 * | `success(user)` | the request is authenticated as this user |
 * | `pass()` | the request has no credentials of this kind |
 * | `fail(reason)` | the credentials are wrong; the reason is logged |
 * | `error(cause)` | the credentials could not be verified |
 *
 * A strategy keeps its state in plain fields, not in `#private` ones: each request calls `authenticate` on an object that inherits
 * from the strategy and has the actions of that request.
 */
export abstract class AuthenticationStrategy extends (PassportStrategy as abstract new () => object) {
  abstract readonly name: string;
  abstract authenticate(credentials: Credentials): void | Promise<void>;
  declare readonly success: (user: UserInfo) => void;
  declare readonly fail: (reason: string) => void;
  declare readonly pass: () => void;
  declare readonly error: (cause: unknown) => void;
}

/** One run of a strategy: an object of a fixed shape that inherits from it. */
interface Run extends AuthenticationStrategy {
  done: boolean;
  user: UserInfo | undefined;
  failure: Error | undefined;
  /** Set if the result is awaited. */
  settled: (() => void) | undefined;
}

/**
 * Runs a strategy of the server without passport's middleware, which creates five functions for each request and has no synchronous result.
 * The actions are created once for each strategy and belong to the prototype of its runs, so a request allocates one small object; a
 * strategy that acts synchronously gets a synchronous result. Strategies of packages run in passport (plugins/passport-authenticator.ts).
 */
export function headless(strategy: AuthenticationStrategy): Authenticator {
  function NewRun(this: Run): void {
    this.done = false;
    this.user = undefined;
    this.failure = undefined;
    this.settled = undefined;
  }
  NewRun.prototype = Object.assign(Object.create(strategy) as object, {
    success(this: Run, user: UserInfo): void {
      settle(this, user, undefined);
    },
    pass(this: Run): void {
      settle(this, undefined, undefined);
    },
    fail(this: Run, reason: string): void {
      settle(this, undefined, new Error(reason));
    },
    error(this: Run, cause: unknown): void {
      settle(this, undefined, cause instanceof Error ? cause : new Error(String(cause)));
    },
  });
  return {
    name: strategy.name,
    authenticate(credentials) {
      const run = new (NewRun as unknown as new () => Run)();
      const later = run.authenticate(credentials);
      if (run.done) return answerOf(run);
      return new Promise<void>((resolve, reject) => {
        run.settled = resolve;
        later?.catch(reject);
      }).then(() => answerOf(run));
    },
  };
}

function settle(run: Run, user: UserInfo | undefined, failure: Error | undefined): void {
  if (run.done) return;
  run.done = true;
  run.user = user;
  run.failure = failure;
  run.settled?.();
}

function answerOf({ user, failure }: Run): UserInfo | undefined {
  if (failure !== undefined) throw failure;
  return user;
}
