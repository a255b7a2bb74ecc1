import { alwaysAllowPathProblem } from '#plugins/authorization/always-allow-paths';
import { Check, Flag } from './flag.ts';

/**
 * Of a server behind the aggregation layer of another one, which it asks who its clients are and what they may do. These flags
 * are those of extension API servers. Upstream: apiserver/pkg/server/options (DelegatingAuthenticationOptions,
 * DelegatingAuthorizationOptions).
 */
export class DelegationOptions {
  /** A kubeconfig file of the other server, with the rights to create token reviews and to read what it publishes for extension servers. */
  @Flag('authentication-kubeconfig')
  authenticationKubeconfig = '';

  /** Do not look there for the authorities of client certificates and front proxies. */
  @Flag('authentication-skip-lookup')
  @Check<DelegationOptions>((skip: boolean, { authenticationKubeconfig }) => needs(skip, authenticationKubeconfig, 'authentication'))
  authenticationSkipLookup = false;

  /** Start without them where they cannot be had. */
  @Flag('authentication-tolerate-lookup-failure')
  @Check<DelegationOptions>((tolerate: boolean, { authenticationKubeconfig }) =>
    needs(tolerate, authenticationKubeconfig, 'authentication'),
  )
  authenticationTolerateLookupFailure = false;

  /** A kubeconfig file of the other server, with the rights to create subject access reviews. */
  @Flag('authorization-kubeconfig')
  authorizationKubeconfig = '';

  /** What anybody may ask for without the other server being asked. */
  @Flag('authorization-always-allow-paths')
  @Check<DelegationOptions>((paths: readonly string[]) => paths.flatMap((path) => alwaysAllowPathProblem(path) ?? []))
  authorizationAlwaysAllowPaths: readonly string[] = ['/healthz', '/readyz', '/livez'];
}

function needs(isSet: boolean, kubeconfig: string, what: string): string | undefined {
  return isSet && kubeconfig === '' ? `--${what}-kubeconfig is needed to look anything up` : undefined;
}
