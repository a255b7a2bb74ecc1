import { Min } from 'class-validator';
import { Check, Flag } from './flag.ts';

const modes = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'];
const webhookVersions = ['v1', 'v1beta1'];

export type AuthorizationMode = 'ABAC' | 'AlwaysAllow' | 'AlwaysDeny' | 'Node' | 'RBAC' | 'Webhook';

/** Compared by identity: who names them names a mode. */
export const defaultModes: readonly AuthorizationMode[] = ['RBAC'];

/** Who may do what. Upstream: kubernetes/pkg/kubeapiserver/options/authorization.go. */
export class AuthorizationOptions {
  /** Upstream's default is AlwaysAllow; ours lets nobody do what nobody allowed. */
  @Flag('authorization-mode')
  @Check<AuthorizationOptions>((wanted: readonly string[], { authorizationPolicyFile, authorizationWebhookConfigFile }) => {
    const errors = wanted
      .filter((mode) => !modes.includes(mode))
      .map((mode) => `authorization-mode ${JSON.stringify(mode)} is not a valid mode`);
    if (wanted.includes('ABAC') && authorizationPolicyFile === '')
      errors.push("authorization-mode ABAC's authorization policy file not passed");
    if (wanted.includes('Webhook') && authorizationWebhookConfigFile === '')
      errors.push("authorization-mode Webhook's authorization config file not passed");
    if (new Set(wanted).size < wanted.length) errors.push(`authorization-mode ${JSON.stringify(wanted)} has mode specified more than once`);
    return errors;
  })
  authorizationMode: readonly AuthorizationMode[] = defaultModes;

  /** Of mode ABAC: a policy a line. */
  @Flag('authorization-policy-file')
  @Check<AuthorizationOptions>((file: string, { authorizationMode }) =>
    file !== '' && !authorizationMode.includes('ABAC') ? 'cannot specify --authorization-policy-file without mode ABAC' : undefined,
  )
  authorizationPolicyFile = '';

  /** Of mode Webhook: a kubeconfig file that says where the service is. */
  @Flag('authorization-webhook-config-file')
  @Check<AuthorizationOptions>((file: string, { authorizationMode }) =>
    file !== '' && !authorizationMode.includes('Webhook')
      ? 'cannot specify --authorization-webhook-config-file without mode Webhook'
      : undefined,
  )
  authorizationWebhookConfigFile = '';

  @Flag('authorization-webhook-version')
  @Check<AuthorizationOptions>((version: string) =>
    webhookVersions.includes(version) ? undefined : `--authorization-webhook-version ${JSON.stringify(version)} must be v1 or v1beta1`,
  )
  authorizationWebhookVersion: 'v1' | 'v1beta1' = 'v1beta1';

  @Flag('authorization-webhook-cache-authorized-ttl')
  @Min(0, { message: '--authorization-webhook-cache-authorized-ttl can not be negative value' })
  authorizationWebhookCacheAuthorizedTtl = 300_000;

  @Flag('authorization-webhook-cache-unauthorized-ttl')
  @Min(0, { message: '--authorization-webhook-cache-unauthorized-ttl can not be negative value' })
  authorizationWebhookCacheUnauthorizedTtl = 30_000;

  /** A file of kind AuthorizationConfiguration, in place of the modes. Read again when it changes. */
  @Flag('authorization-config')
  authorizationConfig = '';
}
