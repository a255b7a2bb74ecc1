import { inject, optional } from 'inversify';
import type { Authenticator, Credentials } from '#apiserver/authentication/authenticator';
import type { UserInfo } from '#apiserver/request/user-info';
import { AuthenticatorPlugin } from '#apiserver/authentication/authenticator-plugin';
import { type AuthenticationStrategy, headless } from '#apiserver/authentication/strategy';
import { Configuration } from './configuration.ts';
import type { ContributionOptions, PluginClass } from '#apiserver/base/contribution';

/** A strategy of passport, as npm has them: its `authenticate` ends in `this.success`, `fail`, `pass` or `error`. */
export interface PassportStrategy {
  authenticate(request: never, options?: never): unknown;
}

/** The part of a request that strategies see: what node:http and Express call by these names. */
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
  /** Makes the strategy, with the validated configuration. */
  strategy(configuration: T): PassportStrategy;
  /** The header that carries the strategy's credentials. Default: `authorization`. */
  readonly header?: string;
  /** The scheme before the credentials in the header (`Basic`), in any case; undefined: the header carries nothing else. */
  readonly scheme?: string;
  /** Turns what the strategy calls a user into one of Kubernetes. Default: it is one already. */
  user?(found: unknown): UserInfo;
}

/**
 * A strategy of passport as an authenticator of a package, without passport's middleware: nothing is redirected, and there is no session. It is asked
 * about requests with its header (and scheme) alone, because strategies fail for a request without credentials as they do for one with wrong ones:
 *
 * | request | strategy | answer |
 * |---|---|---|
 * | without the header or of another scheme | is not asked | undefined: the next authenticator is asked |
 * | with it | `success(user)` | that user |
 * | with it | `pass()` | undefined |
 * | with it | `fail()`, `error()`, `redirect()` | refused, unless another authenticator knows the user |
 */
export function passportAuthenticator<T extends object = object>(options: PassportAuthenticatorOptions<T>): PluginClass<Authenticator> {
  const { name, configuration: ofPlugin, header = 'authorization', scheme, user = userOf } = options;
  const isScheme = scheme === undefined ? undefined : `${scheme.toLowerCase()} `;

  class PassportAuthenticator implements Authenticator {
    readonly name = name;
    readonly #authenticator: Authenticator;

    constructor(configuration?: T) {
      const strategy = options.strategy(configuration ?? ({} as T));
      this.#authenticator = headless(Object.assign(Object.create(strategy) as AuthenticationStrategy, { name }));
    }

    async authenticate(credentials: Credentials): Promise<UserInfo | undefined> {
      const value = credentials.headers[header.toLowerCase()];
      if (typeof value !== 'string' || (isScheme !== undefined && !value.toLowerCase().startsWith(isScheme))) return undefined;
      const found: unknown = await this.#authenticator.authenticate(requestOf(credentials) as never);
      return found === undefined ? undefined : user(found);
    }
  }
  // Called as functions, so that Node runs this file without a transpiler.
  AuthenticatorPlugin({ name, ...(ofPlugin && { configuration: ofPlugin }) })(PassportAuthenticator);
  for (const decorate of [inject(Configuration), optional()]) decorate(PassportAuthenticator, undefined, 0);
  return PassportAuthenticator as unknown as PluginClass<Authenticator>;
}

function requestOf({ headers, path }: Credentials): PassportRequest {
  const get = (name: string): string | undefined => {
    const value = headers[name.toLowerCase()];
    return Array.isArray(value) ? value[0] : value;
  };
  return { method: 'GET', url: path, path, headers, query: {}, body: undefined, get };
}

/** Throws for what is no user of Kubernetes. */
function userOf(found: unknown): UserInfo {
  const { name, groups = [], ...more } = found as Partial<UserInfo>;
  if (typeof name !== 'string' || name === '') throw new Error('the strategy gave a user without a name: `user` must turn it into one');
  return { ...more, name, groups };
}
