import { readText } from '#apiserver/base/system-error';
import { readKubeconfig } from '#apiserver/network/webhook/kubeconfig';
import { readAuthorizationConfiguration } from '#cmd/config/authorization-configuration';
import type { AuthorizerConfig } from '#cmd/server-config';
import { parsePolicyFile } from '#plugins/authorization/abac';
import { type AuthorizationMode, type AuthorizationOptions, defaultModes } from './authorization-options.ts';
import { delegatedAuthorizers } from './complete-delegation.ts';
import type { DelegationOptions } from './delegation-options.ts';

/** Upstream: kubernetes/pkg/kubeapiserver/authorizer/config.go. */
const webhookTimeoutMs = 30_000;

/**
 * Returns the authorizers of the configuration file or of the modes, followed by the server that this one delegates to. If it delegates and
 * no flag names a mode, only that server decides. Rejects with the flag and the problem of its file.
 */
export async function authorizersOf(options: AuthorizationOptions, delegation: DelegationOptions): Promise<AuthorizerConfig[]> {
  const delegated = await named('--authorization-kubeconfig', delegatedAuthorizers(delegation));
  const isAlone = delegated.length > 0 && options.authorizationConfig === '' && options.authorizationMode === defaultModes;
  return isAlone ? delegated : [...(await ownAuthorizersOf(options)), ...delegated];
}

async function ownAuthorizersOf(options: AuthorizationOptions): Promise<AuthorizerConfig[]> {
  const file = options.authorizationConfig;
  if (file !== '') return named('--authorization-config', readText(file).then(readAuthorizationConfiguration));
  return Promise.all(options.authorizationMode.map((mode) => authorizerOf(mode, options)));
}

async function authorizerOf(mode: AuthorizationMode, options: AuthorizationOptions): Promise<AuthorizerConfig> {
  if (mode === 'ABAC') {
    const policies = await named('--authorization-policy-file', readText(options.authorizationPolicyFile).then(parsePolicyFile));
    return { type: mode, policies };
  }
  if (mode !== 'Webhook') return { type: mode };
  return {
    type: mode,
    webhook: {
      name: 'webhook',
      connection: await named('--authorization-webhook-config-file', readKubeconfig(options.authorizationWebhookConfigFile)),
      timeoutMs: webhookTimeoutMs,
      version: options.authorizationWebhookVersion,
      authorizedTtlMs: options.authorizationWebhookCacheAuthorizedTtl,
      unauthorizedTtlMs: options.authorizationWebhookCacheUnauthorizedTtl,
      failurePolicy: 'NoOpinion',
    },
  };
}

async function named<T>(flag: string, work: Promise<T>): Promise<T> {
  return work.catch((cause: unknown) => {
    throw new Error(`${flag}: ${(cause as Error).message}`, { cause });
  });
}
