import { Check, Flag } from './flag.ts';

/** The issuer where none is named: upstream has no default, and asks for one. */
const ownIssuer = 'https://kubernetes.default.svc';
const hourMs = 3_600_000;

/** How tokens of service accounts are made. Upstream: kubernetes/pkg/kubeapiserver/options/authentication.go. */
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

  /** Empty: the server's own key, if it has certificates of its own. */
  @Flag('service-account-signing-key-file')
  serviceAccountSigningKeyFile = '';

  /** The unix socket of a service that signs tokens, or `@name` in Linux's abstract space. */
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

  /** Public or private keys that tokens are verified with. Empty: the signing key. */
  @Flag('service-account-key-file')
  serviceAccountKeyFile: readonly string[] = [];

  @Flag('service-account-lookup')
  serviceAccountLookup = true;

  /** Empty: the server's own address. */
  @Flag('service-account-jwks-uri')
  @Check<ServiceAccountOptions>((uri: string) => {
    if (uri === '') return undefined;
    if (!URL.canParse(uri)) return `service-account-jwks-uri must be a valid URL: ${JSON.stringify(uri)}`;
    return new URL(uri).protocol === 'https:' ? undefined : `service-account-jwks-uri requires https scheme, parsed as: ${uri}`;
  })
  serviceAccountJwksUri = '';

  /** Empty: the issuer. */
  @Flag('api-audiences')
  apiAudiences: readonly string[] = [];

  /** 0: no limit. */
  @Flag('service-account-max-token-expiration')
  @Check<ServiceAccountOptions>((expiration: number) => {
    const isAllowed = expiration === 0 || (expiration >= hourMs && expiration <= 2 ** 32 * 1_000);
    return isAllowed ? undefined : 'the service-account-max-token-expiration must be between 1 hour and 2^32 seconds';
  })
  serviceAccountMaxTokenExpiration = 0;

  @Flag('service-account-extend-token-expiration')
  serviceAccountExtendTokenExpiration = true;
}
