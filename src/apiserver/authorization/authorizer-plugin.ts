import { type ContributionOptions, describes } from '#apiserver/base/contribution';

/** Marks a class as an Authorizer of a package. It is asked after system:masters and before the modes of `--authorization-mode`, so that it can deny what these allow. */
export function AuthorizerPlugin(options: ContributionOptions): ClassDecorator {
  return describes('AuthorizerPlugin', options);
}
