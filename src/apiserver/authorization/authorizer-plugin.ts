import { type ContributionOptions, describes } from '#apiserver/base/contribution';

/**
 * Declares a class as an Authorizer of a package. It runs after system:masters and before the modes of `--authorization-mode`, so
 * it can deny what these allow.
 */
export function AuthorizerPlugin(options: ContributionOptions): ClassDecorator {
  return describes('AuthorizerPlugin', options);
}
