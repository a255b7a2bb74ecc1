import { signingAlgorithms } from '#cmd/config/authentication-configuration';
import { Check, Flag } from './flag.ts';

/** Issuer of ID tokens. Upstream: kubernetes/pkg/kubeapiserver/options/authentication.go (OIDCAuthenticationOptions). */
export class OidcOptions {
  @Flag('oidc-issuer-url')
  @Check<OidcOptions>((url: string) => {
    if (url === '') return undefined;
    return URL.canParse(url) && new URL(url).protocol === 'https:'
      ? undefined
      : `oidc-issuer-url ${JSON.stringify(url)} must be an https URL`;
  })
  oidcIssuerUrl = '';

  @Flag('oidc-client-id')
  oidcClientId = '';

  @Flag('oidc-ca-file')
  oidcCaFile = '';

  @Flag('oidc-username-claim')
  oidcUsernameClaim = 'sub';

  /** Prefix of user names. Empty: the issuer and `#`, except for the claim `email`; `-`: none. */
  @Flag('oidc-username-prefix')
  oidcUsernamePrefix = '';

  @Flag('oidc-groups-claim')
  oidcGroupsClaim = '';

  @Flag('oidc-groups-prefix')
  oidcGroupsPrefix = '';

  @Flag('oidc-required-claim')
  oidcRequiredClaim: ReadonlyMap<string, string> = new Map();

  @Flag('oidc-signing-algs')
  @Check<OidcOptions>((algorithms: readonly string[]) =>
    algorithms.filter((one) => !signingAlgorithms.includes(one)).map((one) => `oidc: unsupported signing alg: ${JSON.stringify(one)}`),
  )
  oidcSigningAlgs: readonly string[] = ['RS256'];
}
