import { type ContributionOptions, describes, type PluginClass } from '#apiserver/base/contribution';
import type { Authenticator } from './authenticator.ts';

/** Declares a class as an Authenticator of a package. It runs after the built-in authenticators and before the anonymous one. */
export function AuthenticatorPlugin(options: ContributionOptions): (type: PluginClass<Omit<Authenticator, 'name'>>) => void {
  return describes('AuthenticatorPlugin', options);
}
