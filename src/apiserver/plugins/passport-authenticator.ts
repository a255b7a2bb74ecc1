import { inject, optional } from 'inversify';
import type { Authenticator, Credentials } from '#apiserver/authentication/authenticator';
import type { UserInfo } from '#apiserver/request/user-info';
import { AuthenticatorPlugin } from '#apiserver/authentication/authenticator-plugin';
import { Configuration } from './configuration.ts';
import type { ContributionOptions, PluginClass } from '#apiserver/base/contribution';
import { errorOf } from './error-of.ts';
import type { Passport, RedirectResponse } from 'passport';

/** A passport strategy of an npm package; its `authenticate` calls `this.success`, `fail`, `pass` or `error`. */
export interface PassportStrategy {
  authenticate(request: never, options?: never): unknown;
}

/** A run of a strategy, with the actions that passport gives it. */
interface StrategyRun extends PassportStrategy {
  error(cause: unknown): void;
}

/** The request as strategies see it, with the member names of node:http and Express. */
export interface PassportRequest {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly headers: Credentials['headers'];
  readonly query: Readonly<Record<string, never>>;
  readonly body: undefined;
  /** Returns the value of a header. */
  get(name: string): string | undefined;
}

export interface PassportAuthenticatorOptions<T extends object> extends ContributionOptions {
  readonly configuration?: new () => T;
  /** Creates the strategy from the validated configuration. */
  strategy(configuration: T): PassportStrategy;
  /** The header that carries the strategy's credentials. Default: `authorization`. */
  readonly header?: string;
  /** Scheme before the credentials in the header (`Basic`), case-insensitive; undefined: the header contains only credentials. */
  readonly scheme?: string;
  /** Converts the strategy's user to a UserInfo. Default: it has that form already. */
  user?(found: unknown): UserInfo;
}

/**
 * Creates an authenticator of a package from a passport strategy. Passport runs it headless: without sessions, and without a response to
 * which a strategy could write a redirect or a challenge. It runs only for requests with its header (and scheme), because strategies fail
 * for missing credentials as they do for wrong ones:
 *
 * | request | strategy calls | result |
 * |---|---|---|
 * | without the header, or with another scheme | - (does not run) | undefined: the next authenticator runs |
 * | with it | `success(user)` | that user |
 * | with it | `pass()` | undefined |
 * | with it | `fail()`, `error()`, `redirect()` | Unauthorized, unless another authenticator accepts the credentials |
 */
export function passportAuthenticator<T extends object = object>(options: PassportAuthenticatorOptions<T>): PluginClass<Authenticator> {
  const { name, configuration: ofPlugin, header = 'authorization', scheme, user = userOf } = options;
  const isScheme = scheme === undefined ? undefined : `${scheme.toLowerCase()} `;

  class PassportAuthenticator implements Authenticator {
    readonly name = name;
    readonly credentialHeaders = [header.toLowerCase()];
    readonly #passport: Promise<Passport>;

    constructor(configuration?: T) {
      this.#passport = passportOf(name, options.strategy(configuration ?? ({} as T)));
    }

    async authenticate(credentials: Credentials): Promise<UserInfo | undefined> {
      const value = credentials.headers[this.credentialHeaders[0] as string];
      if (typeof value !== 'string' || (isScheme !== undefined && !value.toLowerCase().startsWith(isScheme))) return undefined;
      const found = await run(await this.#passport, name, requestOf(credentials));
      return found === undefined ? undefined : user(found);
    }
  }
  // The decorators are called as functions, so that Node runs this file without a transpiler.
  AuthenticatorPlugin({ name, ...(ofPlugin && { configuration: ofPlugin }) })(PassportAuthenticator);
  for (const decorate of [inject(Configuration), optional()]) decorate(PassportAuthenticator, undefined, 0);
  return PassportAuthenticator as unknown as PluginClass<Authenticator>;
}

/** Registers a strategy with an instance of passport. Only servers with such an authenticator load passport. */
async function passportOf(name: string, strategy: PassportStrategy): Promise<Passport> {
  const { default: passport } = await import('passport');
  return new passport.Passport().use(name, reportingRejections(strategy));
}

/** Reports the rejection of an asynchronous `authenticate` as an error: passport ignores what the method returns. */
function reportingRejections(strategy: PassportStrategy): PassportStrategy {
  return Object.assign(Object.create(strategy) as PassportStrategy, {
    authenticate(this: StrategyRun, request: never, options: never): void {
      const later = strategy.authenticate.call(this, request, options);
      if (later instanceof Promise) later.catch((cause: unknown) => this.error(errorOf(cause)));
    },
  });
}

/** Runs the strategy once. Resolves with its user, or with undefined if it passes; rejects if the credentials are not accepted. */
function run(passport: Passport, name: string, request: PassportRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const authenticate = passport.authenticate(name, { session: false }, (cause, found, challenge) => {
      if (cause) reject(typeof cause === 'string' ? new Error(cause) : errorOf(cause));
      else if (found) resolve(found);
      else reject(new Error(failureText(challenge)));
    });
    const redirected: RedirectResponse = {
      statusCode: 0,
      setHeader() {},
      end: () => reject(new Error('the strategy redirects, which API clients cannot follow')),
    };
    authenticate(request, redirected, () => resolve(undefined));
  });
}

/** Returns the reason of a failure: strategies pass a challenge (`Basic realm="Users"`), `{ message }`, or nothing. */
function failureText(challenge: unknown): string {
  if (typeof challenge === 'string') return challenge;
  try {
    const { message } = (challenge ?? {}) as { readonly message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // A getter of the challenge throws.
  }
  return 'the credentials are wrong';
}

function requestOf({ headers, path }: Credentials): PassportRequest {
  const get = (name: string): string | undefined => {
    const value = headers[name.toLowerCase()];
    return Array.isArray(value) ? value[0] : value;
  };
  return { method: 'GET', url: path, path, headers, query: {}, body: undefined, get };
}

/** Throws if the value is not a UserInfo. */
function userOf(found: unknown): UserInfo {
  const { name, groups = [], ...more } = found as Partial<UserInfo>;
  if (typeof name !== 'string' || name === '') throw new Error('the user of the strategy has no name: convert it with the option `user`');
  return { ...more, name, groups };
}
