import type { ControlPlaneOptions } from '#kubernetes/controlplane/control-plane-options';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import type { GracefulShutdownOptions } from '#apiserver/server/lifecycle/graceful-shutdown';
import type { SecureServerOptions } from '#apiserver/server/serving/secure-server';
import type { UserInfo } from '#apiserver/authentication/authenticator';
import type { JwtTokenIssuerOptions } from '#kubernetes/serviceaccount/jwt-token-issuer';

export type AuthorizationMode = 'AlwaysAllow' | 'AlwaysDeny' | 'RBAC';

/** All that a server is made of, complete and checked: what options become. Files are read already. */
export interface ServerConfig {
  readonly storage: {
    /** The file of the embedded store; undefined: in memory. */
    readonly file: string | undefined;
  };
  readonly serving: (SecureServerOptions & { readonly bindAddress: string; readonly port: number }) | undefined;
  readonly authentication: {
    readonly anonymous: boolean;
    readonly clientCa: string | undefined;
    /** Static users by their tokens (SHA-256, base64). */
    readonly tokens: ReadonlyMap<string, UserInfo> | undefined;
  };
  /** How tokens of service accounts are signed; undefined: the server issues none. */
  readonly serviceAccounts?: JwtTokenIssuerOptions | undefined;
  readonly authorization: { readonly modes: readonly AuthorizationMode[] };
  /** Names of the admission plugins that are on, in their order. */
  readonly admission: readonly string[];
  /** What plugin packages add. */
  readonly plugins?: readonly LoadedContribution[] | undefined;
  readonly requests: {
    readonly timeoutMs: number;
    readonly maxInFlight: number;
    readonly maxMutatingInFlight: number;
    readonly goawayChance: number;
    readonly hstsDirectives: readonly string[];
    /** Patterns, anchored and checked. */
    readonly corsAllowedOrigins: readonly import('re2js').RE2JS[];
  };
  readonly shutdown: GracefulShutdownOptions;
  /** `--v`: 0 tells what matters, 3 each request. */
  readonly verbosity: number;
  /** `--allow-privileged`: containers may run privileged. One setting for the whole process, as upstream's. */
  readonly allowPrivileged: boolean;
  readonly eventTtlSeconds: number;
  /** One CIDR, or two of both families with a comma. The first address of the first is the kubernetes Service's. */
  readonly serviceClusterIpRange: string;
  /** What differs from `defaultControlPlaneOptions`. */
  readonly controlPlane?: Partial<ControlPlaneOptions> | undefined;
}
