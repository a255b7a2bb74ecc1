import { Min } from 'class-validator';
import { Check, Flag } from './flag.ts';

const webhookVersions = ['v1', 'v1beta1'];

/** Authentication of clients. Upstream: kubernetes/pkg/kubeapiserver/options/authentication.go. */
export class AuthenticationOptions {
  @Flag('anonymous-auth')
  anonymousAuth = true;

  /** Bundle of client certificate authorities. Empty: the server creates its own authority, which signs the administrator's certificate. */
  @Flag('client-ca-file')
  clientCaFile = '';

  @Flag('token-auth-file')
  tokenAuthFile = '';

  /** Path of a file of users with passwords. Insecure: upstream removed this flag in 1.19. */
  @Flag('basic-auth-file')
  basicAuthFile = '';

  @Flag('enable-bootstrap-token-auth')
  enableBootstrapTokenAuth = false;

  @Flag('requestheader-client-ca-file')
  requestheaderClientCaFile = '';

  @Flag('requestheader-allowed-names')
  @Check<AuthenticationOptions>((names: readonly string[]) => headerProblems('requestheader-allowed-names', names))
  requestheaderAllowedNames: readonly string[] = [];

  @Flag('requestheader-username-headers')
  @Check<AuthenticationOptions>((headers: readonly string[]) => headerProblems('requestheader-username-headers', headers))
  requestheaderUsernameHeaders: readonly string[] = [];

  @Flag('requestheader-uid-headers')
  @Check<AuthenticationOptions>((headers: readonly string[]) => {
    const isStandard = headers.length === 0 || headers.some((header) => header.toLowerCase() === 'x-remote-uid');
    return [
      ...headerProblems('requestheader-uid-headers', headers),
      ...(isStandard
        ? []
        : ['--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work']),
    ];
  })
  requestheaderUidHeaders: readonly string[] = [];

  @Flag('requestheader-group-headers')
  @Check<AuthenticationOptions>((headers: readonly string[]) => headerProblems('requestheader-group-headers', headers))
  requestheaderGroupHeaders: readonly string[] = [];

  @Flag('requestheader-extra-headers-prefix')
  @Check<AuthenticationOptions>((headers: readonly string[]) => headerProblems('requestheader-extra-headers-prefix', headers))
  requestheaderExtraHeadersPrefix: readonly string[] = [];

  /** Path of a file of kind AuthenticationConfiguration (token issuers, anonymous access). The server reloads it when it changes. */
  @Flag('authentication-config')
  authenticationConfig = '';

  @Flag('authentication-token-webhook-config-file')
  authenticationTokenWebhookConfigFile = '';

  @Flag('authentication-token-webhook-version')
  @Check<AuthenticationOptions>((version: string) =>
    webhookVersions.includes(version)
      ? undefined
      : `--authentication-token-webhook-version ${JSON.stringify(version)} must be v1 or v1beta1`,
  )
  authenticationTokenWebhookVersion: 'v1' | 'v1beta1' = 'v1beta1';

  @Flag('authentication-token-webhook-cache-ttl')
  @Min(0, { message: '--authentication-token-webhook-cache-ttl can not be negative value' })
  authenticationTokenWebhookCacheTtl = 120_000;
}

function headerProblems(flag: string, headers: readonly string[]): string[] {
  return headers.some((header) => header.trim() === '') ? [`empty value in ${JSON.stringify(`--${flag}`)}`] : [];
}
