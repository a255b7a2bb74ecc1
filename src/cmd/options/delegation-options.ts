import { alwaysAllowPathProblem } from '#plugins/authorization/always-allow-paths';
import { Check, Flag } from './flag.ts';

/**
 * Options of a server behind another server's aggregation layer, to which it delegates authentication and authorization. Extension API
 * servers have these flags. Upstream: apiserver/pkg/server/options (DelegatingAuthenticationOptions, DelegatingAuthorizationOptions).
 */
export class DelegationOptions {
  /**
   * Kubeconfig file for the other server. Its user must have permission to create token reviews and to read the information that is
   * published for extension servers.
   */
  @Flag('authentication-kubeconfig')
  authenticationKubeconfig = '';

  /** True if the server does not look up the authorities of client certificates and front proxies there. */
  @Flag('authentication-skip-lookup')
  @Check<DelegationOptions>((skip: boolean, { authenticationKubeconfig }) => needs(skip, authenticationKubeconfig, 'authentication'))
  authenticationSkipLookup = false;

  /** True if the server starts without these authorities when the lookup fails. */
  @Flag('authentication-tolerate-lookup-failure')
  @Check<DelegationOptions>((tolerate: boolean, { authenticationKubeconfig }) =>
    needs(tolerate, authenticationKubeconfig, 'authentication'),
  )
  authenticationTolerateLookupFailure = false;

  /** Kubeconfig file for the other server. Its user must have permission to create subject access reviews. */
  @Flag('authorization-kubeconfig')
  authorizationKubeconfig = '';

  /** Paths that are allowed without a review by the other server. */
  @Flag('authorization-always-allow-paths')
  @Check<DelegationOptions>((paths: readonly string[]) => paths.flatMap((path) => alwaysAllowPathProblem(path) ?? []))
  authorizationAlwaysAllowPaths: readonly string[] = ['/healthz', '/readyz', '/livez'];
}

function needs(isSet: boolean, kubeconfig: string, what: string): string | undefined {
  return isSet && kubeconfig === '' ? `--${what}-kubeconfig is required by the other flags of this group` : undefined;
}
