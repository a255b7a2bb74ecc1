import { type ContributionOptions, describes, type PluginClass } from '#apiserver/base/contribution';
import type { Authorizer } from './authorizer.ts';

export interface AuthorizerPluginOptions extends ContributionOptions {
  /**
   * Decision about a request for which the authorizer throws, times out or returns no decision. `Deny` fails closed: the request is denied
   * regardless of other authorizers. Default: `NoOpinion`. Upstream: `failurePolicy` of a webhook in an AuthorizationConfiguration.
   */
  readonly failurePolicy?: 'NoOpinion' | 'Deny';
}

/**
 * Declares a class as an Authorizer of a package. It runs after system:masters and before the modes of `--authorization-mode`, so
 * it can deny what these allow.
 */
export function AuthorizerPlugin(options: AuthorizerPluginOptions): (type: PluginClass<Omit<Authorizer, 'name'>>) => void {
  return describes('AuthorizerPlugin', options);
}
