import type { ClusterCredentials } from '#apiserver/controllers/cluster-credentials';
import type { NodeCidrRanges } from '#apiserver/controllers/node-cidr-ranges';
import type { GroupResource } from '#apimachinery/meta/types';
import type { EtcdStorageOptions } from '#plugins/storage/etcd/etcd-storage';
import type { RedisStorageOptions } from '#plugins/storage/redis/redis-storage';
import type { StorageMediaType } from './storage/object-forms.ts';
import type { EmulatedVersion } from './version.ts';
import type { ResourceConfig } from '#apiserver/server/resource-config';
import type { FeatureGates } from '#apiserver/base/feature-gates';
import type { Storage } from '#apiserver/storage/storage';
import type { PluginFailures } from '#apiserver/plugins/plugin-failures';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import type { EncryptionRule } from './config/encryption-configuration.ts';
import type { KubeletClientConfig } from '#kubernetes/apis/core/kubelet-connection';
import type { EgressRoutes } from './config/egress-configuration.ts';
import type { KeyObject } from 'node:crypto';
import type { BatchOptions } from '#apiserver/audit/batching-backend';
import type { AuditPolicy } from '#apiserver/audit/policy';
import type { TruncateOptions } from '#apiserver/audit/truncating-backend';
import type { MetricLimits } from '#apiserver/base/metrics/limited-registry';
import type { AuditLogOptions } from '#plugins/audit/log';
import type { ControlPlaneOptions, RequestHeaderInfo } from '#kubernetes/controlplane/control-plane-options';
import type { GracefulShutdownOptions } from '#apiserver/server/lifecycle/graceful-shutdown';
import type { ServingConfig } from '#apiserver/server/generic-server';
import type { ProxyClientCertificate } from '#kube-aggregator/apiserver/remote-server';
import type { ServiceConnection } from '#apiserver/network/webhook/kubeconfig';
import type { OidcOptions } from '#plugins/authentication/oidc';
import type { AbacPolicy } from '#plugins/authorization/abac';
import type { WebhookAuthorizerOptions } from '#plugins/authorization/webhook';
import type { TokenTable } from '#plugins/authentication/token-auth';
import type { ExternalSigner } from '#kubernetes/serviceaccount/external-signer';
import type { JwtTokenIssuerOptions } from '#kubernetes/serviceaccount/jwt-token-issuer';

/** Configuration of one authorizer in the chain. */
export type AuthorizerConfig =
  | { readonly type: 'AlwaysAllow' | 'AlwaysDeny' | 'Node' | 'RBAC' }
  | { readonly type: 'AlwaysAllowPaths'; readonly paths: readonly string[] }
  | { readonly type: 'ABAC'; readonly policies: readonly AbacPolicy[] }
  | { readonly type: 'Webhook'; readonly webhook: WebhookConfig };

export interface WebhookConfig extends Omit<WebhookAuthorizerOptions, 'now'> {
  readonly connection: ServiceConnection;
  readonly timeoutMs: number;
}

/** An issuer of ID tokens. */
export type OidcConfig = Omit<OidcOptions, 'now' | 'apiAudiences' | 'dial'> & {
  /** Egress route to the issuer; undefined: a direct connection. */
  readonly egressSelectorType?: 'controlplane' | 'cluster' | undefined;
};

export interface TokenWebhookConfig {
  readonly connection: ServiceConnection;
  readonly version: 'v1' | 'v1beta1';
  readonly cacheTtlMs: number;
  /** Audiences of the token review; undefined: `apiAudiences`. */
  readonly audiences?: readonly string[];
}

/** Configuration of the proxy to the servers behind APIServices. */
export interface AggregationConfig {
  /** Client certificate, PEM, that identifies this server to them; undefined: it presents none. */
  readonly clientCertificate?: ProxyClientCertificate | undefined;
  readonly rejectsRedirects: boolean;
  /** Authorities of the certificates of other servers on the same store, PEM, to which requests are proxied; undefined: none are. */
  readonly peerCa?: string | undefined;
}

/** Configuration of authentication. Absent methods are disabled. */
export interface AuthenticationConfig {
  readonly anonymous: boolean;
  readonly clientCa: string | undefined;
  /** Authorities of client certificates that the delegated server publishes. */
  readonly delegatedClientCa?: string | undefined;
  /** Static users by their tokens (SHA-256, base64). */
  readonly tokens: TokenTable | undefined;
  /** Users with passwords. */
  readonly passwords?: TokenTable | undefined;
  /** Headers and authority of front proxies. */
  readonly requestHeader?: RequestHeaderInfo | undefined;
  /** Verification of service account tokens. */
  readonly serviceAccounts?: ServiceAccountTokensConfig | undefined;
  readonly bootstrapTokens?: boolean | undefined;
  readonly oidc?: readonly OidcConfig[] | undefined;
  readonly webhook?: TokenWebhookConfig | undefined;
  /** Token webhook of the server that this one delegates to; it is queried last. */
  readonly delegated?: TokenWebhookConfig | undefined;
  /** Paths that `anonymous` applies to; undefined: all paths. */
  readonly anonymousPaths?: readonly string[] | undefined;
  /** `--api-audiences`, or the issuers of service account tokens. */
  readonly apiAudiences?: readonly string[] | undefined;
}

export interface ServiceAccountTokensConfig {
  readonly issuers: readonly string[];
  readonly keys: readonly KeyObject[];
  /** External service that holds the keys; undefined: `keys` holds them. */
  readonly signer?: ExternalSigner | undefined;
  readonly audiences: readonly string[];
  readonly lookup: boolean;
  /** URL of the published keys; undefined: this server publishes them. */
  readonly jwksUri: string | undefined;
}

/** Audit policy and backends. */
export interface AuditConfig {
  readonly policy: AuditPolicy;
  readonly log: (AuditLogOptions & { readonly delivery: AuditDelivery }) | undefined;
  readonly webhook:
    | { readonly connection: ServiceConnection; readonly initialBackoffMs: number; readonly delivery: AuditDelivery }
    | undefined;
}

/** Delivery of events to a backend. */
export interface AuditDelivery {
  readonly mode: 'batch' | 'blocking' | 'blocking-strict';
  readonly batch: BatchOptions;
  readonly truncate: TruncateOptions | undefined;
}

/** Location of the stored objects. */
export type StorageConfig =
  | {
      readonly backend: 'embedded';
      /** File of the store; undefined: in memory. */
      readonly file: string | undefined;
    }
  | {
      readonly backend: 'contributed';
      /** Opens the backend of a package behind its guard. Faults of the backend are recorded in `failures`. */
      open(failures: PluginFailures): Promise<Storage>;
    }
  | RedisConfig
  | EtcdConfig;

/** A redis, which several API servers may share. */
export interface RedisConfig extends RedisStorageOptions {
  readonly backend: 'redis';
}

/** The etcd servers of one resource, which replace the common ones. */
export interface StorageOverride extends GroupResource {
  readonly servers: readonly string[];
}

/** An etcd, which several API servers may share. */
export interface EtcdConfig extends Omit<EtcdStorageOptions, 'dial'> {
  readonly backend: 'etcd';
  /** Media type in which built-in resources are written; the server reads both. */
  readonly mediaType: StorageMediaType;
  readonly healthTimeoutMs: number;
  readonly readyTimeoutMs: number;
  /** Resources whose objects another etcd stores. */
  readonly overrides?: readonly StorageOverride[] | undefined;
}

/** Encryption at rest. */
export interface EncryptionConfig {
  readonly rules: readonly EncryptionRule[];
  /** True if the rules can change while the server runs. */
  readonly reloads: boolean;
}

/** Export of request spans. */
export interface TracingConfig {
  /** Address of the collector in gRPC's name syntax. */
  readonly endpoint: string;
  /** Sampling rate of requests that do not belong to a trace. */
  readonly samplingRatePerMillion: number;
}

/** Endpoints for debugging, besides /metrics. */
export interface DebuggingConfig {
  /** `--profiling`: clients can reset metrics and set the log verbosity. */
  readonly profiling: boolean;
  /** Returns the values of all flags by name. */
  flags(): ReadonlyMap<string, string>;
}

/** Selection of the metrics that /metrics exposes. */
export interface MetricsConfig extends MetricLimits {
  /** True if object counts are exposed. */
  readonly objects: boolean;
  /** Minimum interval in milliseconds between queries of the store's size; 0: none. */
  readonly sizeIntervalMs: number;
}
export const everyMetric: MetricsConfig = { disabled: new Set(), allowed: new Map(), objects: true, sizeIntervalMs: 30_000 };

/** Complete and validated configuration of a server, created from its options. All files have been read. */
export interface ServerConfig {
  readonly storage: StorageConfig & {
    /** Encryption at rest; undefined: none. */
    readonly encryption?: EncryptionConfig | undefined;
  };
  /** Maximum time that readiness waits for the stored objects to be read; undefined: the default. */
  readonly storageInitializationTimeoutMs?: number | undefined;
  readonly serving: ServingConfig | undefined;
  readonly authentication: AuthenticationConfig;
  /** Signing of service account tokens; undefined: the server issues none. */
  readonly serviceAccounts?: JwtTokenIssuerOptions | undefined;
  readonly authorization: { readonly authorizers: readonly AuthorizerConfig[] };
  /** Audit configuration; undefined: nothing is audited. */
  readonly audit?: AuditConfig | undefined;
  /** Export of spans; undefined: none. */
  readonly tracing?: TracingConfig | undefined;
  /** Selection of metrics; undefined: all. */
  readonly metrics?: MetricsConfig | undefined;
  /** Names of the enabled admission plugins, in order. */
  readonly admission: readonly string[];
  /** Configurations, by plugin name, that replace the plugins' defaults. */
  readonly admissionConfigurations?: ReadonlyMap<string, object> | undefined;
  /** Loads the built-in controllers that run in the server, once it is ready; undefined: none. */
  readonly controllers?: (() => Promise<readonly LoadedContribution[]>) | undefined;
  /** Certificate of the authority that signed the serving certificate, PEM, for clients in the cluster; undefined: unknown. */
  readonly rootCertificateAuthority?: string | undefined;
  /** Signs requests for certificates with the server's own authority; undefined: it has none. */
  readonly signCertificateRequest?: ClusterCredentials['signCertificateRequest'];
  /** Addresses that node-ipam-controller gives to nodes; undefined: none. */
  readonly nodeCidrs?: NodeCidrRanges | undefined;
  /** Contributions of plugin packages. */
  readonly plugins?: readonly LoadedContribution[] | undefined;
  /** Names of admission plugins of packages that are disabled: `before` and `after` of others may name them, without effect. */
  readonly disabledPlugins?: readonly string[] | undefined;
  readonly requests: {
    readonly timeoutMs: number;
    /** Minimum timeout of watches that request none; undefined: half an hour. */
    readonly minTimeoutSeconds?: number | undefined;
    readonly maxInFlight: number;
    readonly maxMutatingInFlight: number;
    /** True if flow schemas and priority levels divide the limits; otherwise reads and writes have separate limits. */
    readonly priorityAndFairness: boolean;
    readonly goawayChance: number;
    /** Number of traces of recent write requests to keep; undefined: only requests for a trace. */
    readonly traces?: number | undefined;
    readonly hstsDirectives: readonly string[];
    /** Anchored and validated patterns. */
    readonly corsAllowedOrigins: readonly import('re2js').RE2JS[];
  };
  readonly shutdown: GracefulShutdownOptions;
  /** Endpoints for debugging; undefined: none. */
  readonly debugging?: DebuggingConfig | undefined;
  /** `--v`: 0 logs important events, 3 every request. */
  readonly verbosity: number;
  /** `--allow-privileged`: containers may be privileged. The setting applies to the whole process, as upstream. */
  readonly allowPrivileged: boolean;
  readonly eventTtlSeconds: number;
  /** `--enable-garbage-collector`: deletions set finalizers for the garbage collector; undefined: true. */
  readonly hasGarbageCollection?: boolean | undefined;
  /** `--log-flush-frequency`: maximum delay of log lines in milliseconds; undefined: one second. */
  readonly logFlushMs?: number | undefined;
  /** One CIDR, or two of different families, comma-separated. The kubernetes Service has the first address of the first one. */
  readonly serviceClusterIpRange: string;
  /** `--enable-aggregator-routing`: calls to a service go to its pods instead of its cluster IP. */
  readonly routesToEndpoints?: boolean | undefined;
  /** Proxy to extension servers; undefined: no client certificate, and redirects are rejected. */
  readonly aggregation?: AggregationConfig | undefined;
  /** `--livez-grace-period`: period during which /livez ignores unfinished post-start hooks; undefined: none. */
  readonly livezGraceMs?: number | undefined;
  /** Kubelet client; undefined: the defaults. */
  readonly kubelet?: KubeletClientConfig | undefined;
  /** `--external-hostname`: name of the server for clients; undefined: its address. */
  readonly externalHostname?: string | undefined;
  /** Egress routes; undefined: direct connections. */
  readonly egress?: EgressRoutes | undefined;
  /** `--runtime-config`: enabled built-in APIs; undefined: the defaults. */
  readonly resourceConfig?: ResourceConfig | undefined;
  /** Feature gates; undefined: all at their defaults. */
  readonly features?: FeatureGates | undefined;
  /** `--emulated-version`, `--min-compatibility-version`; undefined: the server's own version. */
  readonly emulation?: EmulatedVersion | undefined;
  /** Differences from `defaultControlPlaneOptions`. */
  readonly controlPlane?: Partial<ControlPlaneOptions> | undefined;
}
