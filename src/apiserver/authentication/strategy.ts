import PassportStrategy from 'passport-strategy';
import type { Authenticator, Credentials } from './authenticator.ts';
import type { UserInfo } from '#apiserver/request/user-info';

/**
 * One way to find out who asks, as a passport strategy: passport's own class, from the package that passport has it from (passport
 * itself needs `__proto__`, which bin/kubenest takes away). `authenticate` ends in exactly one of the actions, at once or later:
 *
 * | action | meaning |
 * |---|---|
 * | `success(user)` | it is this user |
 * | `pass()` | the request carries nothing that this strategy knows |
 * | `fail(reason)` | what it carries is wrong; the reason is for the log |
 * | `error(cause)` | it could not be found out |
 *
 * The actions are those of the request, so state of a strategy is in plain fields, never in `#private` ones: passport
 * calls `authenticate` on an object that inherits from the strategy.
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
  /** Set where somebody waits for the end. */
  settled: (() => void) | undefined;
}

/**
 * Runs a strategy without passport's middleware. The actions are made once for each strategy and stand in the prototype of
 * its runs, so a request costs one small object; a strategy that acts at once is answered at once.
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
    fail(this: Run, reason: unknown): void {
      settle(this, undefined, new Error(failureText(reason)));
    },
    redirect(this: Run): void {
      settle(this, undefined, new Error('the strategy redirects, which a client of an API cannot follow'));
    },
    error(this: Run, cause: unknown): void {
      settle(this, undefined, cause instanceof Error ? cause : new Error(String(cause)));
    },
  });
  return {
    name: strategy.name,
    authenticate(credentials) {
      const run = new (NewRun as unknown as new () => Run)();
      // Strategies of others may return something else, which means nothing.
      const later: unknown = run.authenticate(credentials);
      if (run.done) return answerOf(run);
      return new Promise<void>((resolve, reject) => {
        run.settled = resolve;
        if (later instanceof Promise) later.catch(reject);
      }).then(() => answerOf(run));
    },
  };
}

/** Strategies of others fail with a challenge (`Basic realm="Users"`), with `{ message }`, with a status code, or with nothing. */
function failureText(reason: unknown): string {
  if (typeof reason === 'string') return reason;
  const { message } = (reason ?? {}) as { readonly message?: unknown };
  return typeof message === 'string' ? message : 'the credentials are wrong';
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
