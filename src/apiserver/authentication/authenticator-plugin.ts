import { type ContributionOptions, describes } from '#apiserver/base/contribution';

/** Declares a class as an Authenticator of a package. It runs after the built-in authenticators and before the anonymous one. */
export function AuthenticatorPlugin(options: ContributionOptions): ClassDecorator {
  return describes('AuthenticatorPlugin', options);
}
