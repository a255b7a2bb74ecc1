import { Min } from 'class-validator';
import { Check, Flag } from './flag.ts';

const modes = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'];
const webhookVersions = ['v1', 'v1beta1'];

export type AuthorizationMode = 'ABAC' | 'AlwaysAllow' | 'AlwaysDeny' | 'Node' | 'RBAC' | 'Webhook';

/** Default modes. The default is recognized by object identity, because a flag may name the same mode. */
export const defaultModes: readonly AuthorizationMode[] = ['RBAC'];

/** Authorization of requests. Upstream: kubernetes/pkg/kubeapiserver/options/authorization.go. */
export class AuthorizationOptions {
  /** Authorization modes. Upstream defaults to AlwaysAllow; the default here is RBAC, which denies what no rule allows. */
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

  /** Policy file of mode ABAC, with one policy per line. */
  @Flag('authorization-policy-file')
  @Check<AuthorizationOptions>((file: string, { authorizationMode }) =>
    file !== '' && !authorizationMode.includes('ABAC') ? 'cannot specify --authorization-policy-file without mode ABAC' : undefined,
  )
  authorizationPolicyFile = '';

  /** Kubeconfig file of mode Webhook, with the address of the webhook. */
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

  /** Path of a file of kind AuthorizationConfiguration, which replaces the modes. The server reloads it when it changes. */
  @Flag('authorization-config')
  authorizationConfig = '';
}
