import type { GroupResource } from '#apimachinery/meta/types';
import type { EtcdStorageOptions } from '#plugins/storage/etcd/etcd-storage';
import type { RedisStorageOptions } from '#plugins/storage/redis/redis-storage';
import type { StorageMediaType } from './storage/object-forms.ts';
import type { EmulatedVersion } from './version.ts';
import type { ResourceConfig } from '#apiserver/server/resource-config';
import type { FeatureGates } from '#apiserver/base/feature-gates';
import type { CommitFeed, Storage } from '#apiserver/storage/storage';
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
import type { ProxyClientCertificate } from '#kube-aggregator/apiserver/extension-server';
import type { ServiceConnection } from '#apiserver/network/webhook/kubeconfig';
import type { OidcOptions } from '#plugins/authentication/oidc';
import type { AbacPolicy } from '#plugins/authorization/abac';
import type { WebhookAuthorizerOptions } from '#plugins/authorization/webhook';
import type { TokenTable } from '#plugins/authentication/token-auth';
import type { ExternalSigner } from '#kubernetes/serviceaccount/external-signer';
import type { JwtTokenIssuerOptions } from '#kubernetes/serviceaccount/jwt-token-issuer';

/** One of the authorizers that are asked in turn. */
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
  /** By which way it is reached; undefined: straight. */
  readonly egressSelectorType?: 'controlplane' | 'cluster' | undefined;
};

export interface TokenWebhookConfig {
  readonly connection: ServiceConnection;
  readonly version: 'v1' | 'v1beta1';
  readonly cacheTtlMs: number;
  /** What it is asked to vouch for; undefined: `apiAudiences`. */
  readonly audiences?: readonly string[];
}

/** How the server meets the servers behind APIServices. */
export interface AggregationConfig {
  /** By which they know it, in PEM; undefined: it shows them none. */
  readonly clientCertificate?: ProxyClientCertificate | undefined;
  readonly rejectsRedirects: boolean;
}

/** Who is let in. What is absent is off. */
export interface AuthenticationConfig {
  readonly anonymous: boolean;
  readonly clientCa: string | undefined;
  /** Authorities of client certificates that the server names which this one delegates to. */
  readonly delegatedClientCa?: string | undefined;
  /** Static users by their tokens (SHA-256, base64). */
  readonly tokens: TokenTable | undefined;
  /** Users with passwords. */
  readonly passwords?: TokenTable | undefined;
  /** What front proxies say. */
  readonly requestHeader?: RequestHeaderInfo | undefined;
  /** Tokens of service accounts. */
  readonly serviceAccounts?: ServiceAccountTokensConfig | undefined;
  readonly bootstrapTokens?: boolean | undefined;
  readonly oidc?: readonly OidcConfig[] | undefined;
  readonly webhook?: TokenWebhookConfig | undefined;
  /** The server that this one is behind, which is asked last. */
  readonly delegated?: TokenWebhookConfig | undefined;
  /** Where strangers are let in, if `anonymous`; undefined: everywhere. */
  readonly anonymousPaths?: readonly string[] | undefined;
  /** `--api-audiences`, or the issuers of service account tokens. */
  readonly apiAudiences?: readonly string[] | undefined;
}

export interface ServiceAccountTokensConfig {
  readonly issuers: readonly string[];
  readonly keys: readonly KeyObject[];
  /** The service that has the keys; undefined: they are `keys`. */
  readonly signer?: ExternalSigner | undefined;
  readonly audiences: readonly string[];
  readonly lookup: boolean;
  /** Where others find the keys; undefined: on this server. */
  readonly jwksUri: string | undefined;
}

/** What is noted of requests, and where. */
export interface AuditConfig {
  readonly policy: AuditPolicy;
  readonly log: (AuditLogOptions & { readonly delivery: AuditDelivery }) | undefined;
  readonly webhook:
    | { readonly connection: ServiceConnection; readonly initialBackoffMs: number; readonly delivery: AuditDelivery }
    | undefined;
}

/** How events come to a backend. */
export interface AuditDelivery {
  readonly mode: 'batch' | 'blocking' | 'blocking-strict';
  readonly batch: BatchOptions;
  readonly truncate: TruncateOptions | undefined;
}

/** Where the objects are. */
export type StorageConfig =
  | {
      readonly backend: 'embedded';
      /** undefined: in memory. */
      readonly file: string | undefined;
    }
  | {
      readonly backend: 'contributed';
      /** Of a package. */
      open(): Promise<Storage & Partial<CommitFeed>>;
    }
  | RedisConfig
  | EtcdConfig;

/** A redis, which other API servers may share. */
export interface RedisConfig extends RedisStorageOptions {
  readonly backend: 'redis';
}

/** The etcd servers of one resource, instead of those of all others. */
export interface StorageOverride extends GroupResource {
  readonly servers: readonly string[];
}

/** An etcd, which other API servers may share. */
export interface EtcdConfig extends Omit<EtcdStorageOptions, 'dial'> {
  readonly backend: 'etcd';
  /** In which form built-in resources are written; both are read. */
  readonly mediaType: StorageMediaType;
  readonly healthTimeoutMs: number;
  readonly readyTimeoutMs: number;
  /** Resources whose objects are in another etcd. */
  readonly overrides?: readonly StorageOverride[] | undefined;
}

/** What is encrypted at rest. */
export interface EncryptionConfig {
  readonly rules: readonly EncryptionRule[];
  /** Whether there may be other rules while the server runs. */
  readonly reloads: boolean;
}

/** Where spans of requests go. */
export interface TracingConfig {
  /** Of a collector, as gRPC names places. */
  readonly endpoint: string;
  /** Of requests that are part of no trace yet. */
  readonly samplingRatePerMillion: number;
}

/** What is there beside /metrics to see how the server runs. */
export interface DebuggingConfig {
  /** `--profiling`: metrics can be reset, the log's verbosity set. */
  readonly profiling: boolean;
  /** The values of all flags by their names. */
  flags(): ReadonlyMap<string, string>;
}

/** What /metrics shows. */
export interface MetricsConfig extends MetricLimits {
  /** Whether it tells how many objects there are. */
  readonly objects: boolean;
  /** The store is asked for its size at most so often, in milliseconds; 0: never. */
  readonly sizeIntervalMs: number;
}
export const everyMetric: MetricsConfig = { disabled: new Set(), allowed: new Map(), objects: true, sizeIntervalMs: 30_000 };

/** All that a server is made of, complete and checked: what options become. Files are read already. */
export interface ServerConfig {
  readonly storage: StorageConfig & {
    /** What is encrypted at rest; undefined: nothing. */
    readonly encryption?: EncryptionConfig | undefined;
  };
  /** How long the server waits at most until it has read what is stored, before it says that it is ready; undefined: as by default. */
  readonly storageInitializationTimeoutMs?: number | undefined;
  readonly serving: ServingConfig | undefined;
  readonly authentication: AuthenticationConfig;
  /** How tokens of service accounts are signed; undefined: the server issues none. */
  readonly serviceAccounts?: JwtTokenIssuerOptions | undefined;
  readonly authorization: { readonly authorizers: readonly AuthorizerConfig[] };
  /** undefined: nothing is audited. */
  readonly audit?: AuditConfig | undefined;
  /** undefined: nowhere. */
  readonly tracing?: TracingConfig | undefined;
  /** What /metrics shows; undefined: everything. */
  readonly metrics?: MetricsConfig | undefined;
  /** Names of the admission plugins that are on, in their order. */
  readonly admission: readonly string[];
  /** Of those plugins that are not to have the defaults of their configuration, by their names. */
  readonly admissionConfigurations?: ReadonlyMap<string, object> | undefined;
  /** What plugin packages add. */
  readonly plugins?: readonly LoadedContribution[] | undefined;
  readonly requests: {
    readonly timeoutMs: number;
    /** Watches without a time of their own last so long at least; undefined: half an hour. */
    readonly minTimeoutSeconds?: number | undefined;
    readonly maxInFlight: number;
    readonly maxMutatingInFlight: number;
    /** Whether the limits are shared out by flow schemas and priority levels; else reads and writes have theirs. */
    readonly priorityAndFairness: boolean;
    readonly goawayChance: number;
    /** How many of the last writing requests are traced and kept; without it, those alone that ask. */
    readonly traces?: number | undefined;
    readonly hstsDirectives: readonly string[];
    /** Patterns, anchored and checked. */
    readonly corsAllowedOrigins: readonly import('re2js').RE2JS[];
  };
  readonly shutdown: GracefulShutdownOptions;
  /** What shows how the server runs. */
  readonly debugging?: DebuggingConfig | undefined;
  /** `--v`: 0 tells what matters, 3 each request. */
  readonly verbosity: number;
  /** `--allow-privileged`: containers may run privileged. One setting for the whole process, as upstream's. */
  readonly allowPrivileged: boolean;
  readonly eventTtlSeconds: number;
  /** `--enable-garbage-collector`: deletions leave finalizers for the garbage collector; undefined: they do. */
  readonly hasGarbageCollection?: boolean | undefined;
  /** `--log-flush-frequency`: milliseconds after which lines of the log are written at the latest; undefined: a second. */
  readonly logFlushMs?: number | undefined;
  /** One CIDR, or two of both families with a comma. The first address of the first is the kubernetes Service's. */
  readonly serviceClusterIpRange: string;
  /** `--enable-aggregator-routing`: what the server calls by a service's name it reaches at the pods, not by the cluster's addresses. */
  readonly routesToEndpoints?: boolean | undefined;
  /** Default: no certificate, and redirects are refused. */
  readonly aggregation?: AggregationConfig | undefined;
  /** `--livez-grace-period`: so long /livez takes the post-start hooks for finished; undefined: not at all. */
  readonly livezGraceMs?: number | undefined;
  /** How nodes are reached; undefined: as by default. */
  readonly kubelet?: KubeletClientConfig | undefined;
  /** `--external-hostname`: the name that others know the server by; undefined: its address. */
  readonly externalHostname?: string | undefined;
  /** Ways out of the server; undefined: straight. */
  readonly egress?: EgressRoutes | undefined;
  /** `--runtime-config`: which of the built-in APIs are on; undefined: those that are by default. */
  readonly resourceConfig?: ResourceConfig | undefined;
  /** undefined: all features at their defaults. */
  readonly features?: FeatureGates | undefined;
  /** `--emulated-version`, `--min-compatibility-version`; undefined: the server's own. */
  readonly emulation?: EmulatedVersion | undefined;
  /** What differs from `defaultControlPlaneOptions`. */
  readonly controlPlane?: Partial<ControlPlaneOptions> | undefined;
}
