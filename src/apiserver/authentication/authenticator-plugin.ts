import { type ContributionOptions, describes } from '#apiserver/base/contribution';

/** Marks a class as an Authenticator of a package. It is asked after the built-in ones, before the anonymous one. */
export function AuthenticatorPlugin(options: ContributionOptions): ClassDecorator {
  return describes('AuthenticatorPlugin', options);
}
