import { Check, Flag } from './flag.ts';

/** Default issuer. Upstream has no default and requires the flag. */
const ownIssuer = 'https://kubernetes.default.svc';
const hourMs = 3_600_000;

/** Issuing and verification of service account tokens. Upstream: kubernetes/pkg/kubeapiserver/options/authentication.go. */
export class ServiceAccountOptions {
  @Flag('service-account-issuer')
  @Check<ServiceAccountOptions>((issuers: readonly string[]) => {
    return issuers.flatMap((issuer, at) => {
      if (issuer.includes(':') && !URL.canParse(issuer))
        return `service-account-issuer ${JSON.stringify(issuer)} contained a ':' but was not a valid URL`;
      return issuers.indexOf(issuer) < at ? `service-account-issuer ${JSON.stringify(issuer)} is already specified` : [];
    });
  })
  serviceAccountIssuer: readonly string[] = [ownIssuer];

  /** Signing key. Empty: the server's own key, if it has its own certificates. */
  @Flag('service-account-signing-key-file')
  serviceAccountSigningKeyFile = '';

  /** Unix socket of a service that signs tokens, or `@name` in Linux's abstract namespace. */
  @Flag('service-account-signing-endpoint')
  @Check<ServiceAccountOptions>((endpoint: string, { serviceAccountSigningKeyFile, serviceAccountKeyFile }) => {
    if (endpoint === '') return undefined;
    if (serviceAccountSigningKeyFile !== '' || serviceAccountKeyFile.length > 0)
      return "can't set `--service-account-signing-key-file` and/or `--service-account-key-file` with `--service-account-signing-endpoint` (They are mutually exclusive)";
    return !endpoint.startsWith('@') || /^@([a-zA-Z0-9_-]+\.)*[a-zA-Z0-9_-]+$/.test(endpoint)
      ? undefined
      : `invalid value ${JSON.stringify(endpoint)} passed for \`--service-account-signing-endpoint\`, when prefixed with @ must be a valid abstract socket name`;
  })
  serviceAccountSigningEndpoint = '';

  /** Files of public or private keys that verify tokens. Empty: the signing key. */
  @Flag('service-account-key-file')
  serviceAccountKeyFile: readonly string[] = [];

  @Flag('service-account-lookup')
  serviceAccountLookup = true;

  /** URL of the published keys. Empty: the server's own address. */
  @Flag('service-account-jwks-uri')
  @Check<ServiceAccountOptions>((uri: string) => {
    if (uri === '') return undefined;
    if (!URL.canParse(uri)) return `service-account-jwks-uri must be a valid URL: ${JSON.stringify(uri)}`;
    return new URL(uri).protocol === 'https:' ? undefined : `service-account-jwks-uri requires https scheme, parsed as: ${uri}`;
  })
  serviceAccountJwksUri = '';

  /** Audiences of the API. Empty: the issuer. */
  @Flag('api-audiences')
  apiAudiences: readonly string[] = [];

  /** Maximum lifetime of requested tokens; 0: no limit. */
  @Flag('service-account-max-token-expiration')
  @Check<ServiceAccountOptions>((expiration: number) => {
    const isAllowed = expiration === 0 || (expiration >= hourMs && expiration <= 2 ** 32 * 1_000);
    return isAllowed ? undefined : 'the service-account-max-token-expiration must be between 1 hour and 2^32 seconds';
  })
  serviceAccountMaxTokenExpiration = 0;

  @Flag('service-account-extend-token-expiration')
  serviceAccountExtendTokenExpiration = true;
}
