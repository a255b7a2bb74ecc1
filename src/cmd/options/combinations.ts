import { remoteUidGate } from '#kubernetes/controlplane/control-plane-options';
import { unknownDisabled } from './admission-options.ts';
import type { ServerOptions } from './server-options.ts';

const authorizationFlags = [
  'authorization-mode',
  'authorization-webhook-config-file',
  'authorization-webhook-version',
  'authorization-webhook-cache-authorized-ttl',
  'authorization-webhook-cache-unauthorized-ttl',
];
const oidcFlags = [
  'oidc-issuer-url',
  'oidc-client-id',
  'oidc-ca-file',
  'oidc-username-claim',
  'oidc-username-prefix',
  'oidc-groups-claim',
  'oidc-groups-prefix',
  'oidc-required-claim',
  'oidc-signing-algs',
];

/**
 * Returns the problems with flags that exclude or require each other. docs/reference/start-flags.md lists the rules. Upstream:
 * kubeapiserver/options (Validate), controlplane/apiserver/options (validation.go).
 */
export function combinationProblems(options: ServerOptions): string[] {
  const { authentication, authorization, oidc, apis, requests } = options;
  const isAnyGiven = (flags: readonly string[]): boolean => flags.some((flag) => options.isGiven(flag));
  const problems: string[] = [];
  if (authorization.authorizationConfig !== '' && isAnyGiven(authorizationFlags))
    problems.push('--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined');
  if (isAnyGiven(oidcFlags)) {
    if (authentication.authenticationConfig !== '') problems.push('authentication-config file and oidc-* flags are mutually exclusive');
    else if (oidc.oidcIssuerUrl === '' || oidc.oidcClientId === '')
      problems.push('oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set');
  }
  if (options.plugins.packages.length === 0) problems.push(...unknownDisabled(options.admission, []));
  if (authentication.requestheaderUidHeaders.length > 0 && !options.features.gates().enabled(remoteUidGate))
    problems.push(`--requestheader-uid-headers requires the "${remoteUidGate}" feature to be enabled`);
  problems.push(...peerProblems(options));
  if (requests.enablePriorityAndFairness) problems.push(...flowControlProblems(apis.runtimeConfig), ...seatProblems(options));
  return problems;
}

/** Upstream: controlplane/apiserver/options/validation.go (validateUnknownVersionInteroperabilityProxyFlags). */
function peerProblems(options: ServerOptions): string[] {
  const given = ['peer-ca-file', 'peer-advertise-ip', 'peer-advertise-port'].filter((flag) => options.isGiven(flag));
  if (given.length === 0 || options.features.gates().enabled('UnknownVersionInteroperabilityProxy')) return [];
  return given.map((flag) => `--${flag} requires UnknownVersionInteroperabilityProxy feature to be turned on`);
}

/**
 * Requires a positive limit of requests in flight: priority and fairness divides it into seats. Upstream: controlplane/apiserver/config.go
 * (BuildPriorityAndFairness).
 */
function seatProblems({ requests: { maxRequestsInflight: reads, maxMutatingRequestsInflight: writes } }: ServerOptions): string[] {
  return reads === 0 && writes === 0
    ? ['invalid configuration: MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive']
    : [];
}

/** Requires the flow control API, from which priority and fairness reads its configuration. The first entry that covers the API decides. */
function flowControlProblems(runtimeConfig: ReadonlyMap<string, string>): string[] {
  for (const key of ['flowcontrol.apiserver.k8s.io/v1', 'api/ga', 'api/all']) {
    const value = runtimeConfig.get(key);
    if (value === 'false') return [`--runtime-config=${key}=false conflicts with --enable-priority-and-fairness=true`];
    if (value === 'true') return [];
  }
  return [];
}
