import { authorizers } from '#cmd/builtin-plugins';
import type { AuthorizationMode } from '#cmd/server-config';
import { Check, Flag } from './flag.ts';

const modes = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'];

/** Who may do what. Upstream: kubernetes/pkg/kubeapiserver/options/authorization.go. */
export class AuthorizationOptions {
  /** Upstream's default is AlwaysAllow; ours lets nobody do what nobody allowed. */
  @Flag('authorization-mode')
  @Check<AuthorizationOptions>((wanted: readonly string[]) => {
    const errors = wanted
      .filter((mode) => !Object.hasOwn(authorizers, mode))
      .map((mode) => {
        return modes.includes(mode)
          ? `--authorization-mode=${mode} is not implemented yet`
          : `authorization-mode ${JSON.stringify(mode)} is not a valid mode`;
      });
    if (new Set(wanted).size < wanted.length) errors.push(`authorization-mode ${JSON.stringify(wanted)} has mode specified more than once`);
    return errors;
  })
  authorizationMode: readonly AuthorizationMode[] = ['RBAC'];
}
