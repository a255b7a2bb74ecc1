import type { Registry } from 'prom-client';
import { groupResourceString } from '#apimachinery/api/errors';
import type { Scheme } from '#apiserver/registry/scheme';
import type { HealthCheck } from '#apiserver/server/healthz/health-checks';
import type { Logger } from '#apiserver/base/logger';
import { systemClock } from '#apiserver/base/clock';
import type { CommitFeed, Storage } from '#apiserver/storage/storage';
import { EncryptedStorage, type TransformersOf } from '#apiserver/storage/value/encrypted-storage';
import type { KmsProvider } from '#apiserver/storage/value/kms/kms-provider';
import type { KmsMetrics } from '#apiserver/storage/value/kms/kms-metrics';
import { TransformationMetrics } from '#apiserver/storage/value/transformation-metrics';
import { type Transformer, TransformerChain } from '#apiserver/storage/value/transformer';
import { type EncryptionRule, type KmsConfiguration, providersFor } from '#cmd/config/encryption-configuration';
import { placeOf, resourcesByPlace } from './stored-resources.ts';

export interface EncryptionParts {
  readonly storage: Storage & Partial<CommitFeed>;
  readonly scheme: Scheme;
  readonly registry: Registry;
  readonly log: Logger;
  readonly apiServerId: string;
}

/** Encryption at rest: the encrypting stores, and the key services that they use. */
export class Encryption implements AsyncDisposable {
  readonly storage: EncryptedStorage;
  readonly #parts: EncryptionParts;
  readonly #others: EncryptedStorage[] = [];
  readonly #transformations: TransformationMetrics;
  #providers: KmsProviders;
  #transformersOf: TransformersOf = () => undefined;
  /** Shared by all configurations of the process, because metrics can be registered only once. */
  #metrics: KmsMetrics | undefined;

  private constructor(parts: EncryptionParts) {
    this.#parts = parts;
    this.#transformations = new TransformationMetrics(parts.registry);
    this.#providers = new KmsProviders([], []);
    this.storage = new EncryptedStorage(parts.storage, () => undefined);
  }

  /** Opens the encryption. Resolves after each key service was called for a first key, even if the request failed. */
  static async open(rules: readonly EncryptionRule[], parts: EncryptionParts): Promise<Encryption> {
    const encryption = new Encryption(parts);
    encryption.#use(rules, await encryption.#connect(rules));
    return encryption;
  }

  get usesKms(): boolean {
    return this.#providers.all.length > 0;
  }

  /** Checks that all key services are healthy. Upstream: apiserver/pkg/server/options/encryptionconfig/config.go (kmsHealthChecker). */
  readonly healthCheck: HealthCheck = { name: 'kms-providers', check: () => this.#providers.check() };

  /** Wraps another store with encryption by the same rules. */
  wrap(storage: Storage & Partial<CommitFeed>): EncryptedStorage {
    const wrapped = new EncryptedStorage(storage, this.#transformersOf);
    this.#others.push(wrapped);
    return wrapped;
  }

  /** Applies new rules from the next write on. Rejects, without a change, if one of their key services is unhealthy. */
  async replace(rules: readonly EncryptionRule[]): Promise<void> {
    const next = await this.#connect(rules);
    try {
      await next.check();
    } catch (error) {
      await next[Symbol.asyncDispose]();
      throw error;
    }
    const before = this.#providers;
    this.#use(rules, next);
    // Running reads may still use the previous key services.
    systemClock.after(before.graceMs, () => void before[Symbol.asyncDispose]());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#providers[Symbol.asyncDispose]();
  }

  #use(rules: readonly EncryptionRule[], providers: KmsProviders): void {
    this.#providers = providers;
    this.#transformersOf = transformersFor(rules, providers, this.#parts.scheme, this.#transformations);
    for (const storage of [this.storage, ...this.#others]) storage.replace(this.#transformersOf);
  }

  async #connect(rules: readonly EncryptionRule[]): Promise<KmsProviders> {
    const configurations = rules.flatMap((rule) => rule.providers).filter(isKms);
    if (configurations.length === 0) return new KmsProviders([], []);
    const [{ GrpcKmsService }, { KmsProvider }, { KmsMetrics }] = await Promise.all([
      import('#apiserver/storage/value/kms/kms-service'),
      import('#apiserver/storage/value/kms/kms-provider'),
      import('#apiserver/storage/value/kms/kms-metrics'),
    ]);
    const { registry, apiServerId, log } = this.#parts;
    const metrics = (this.#metrics ??= new KmsMetrics(registry, apiServerId));
    const all = configurations.map(
      (configuration) =>
        new KmsProvider({
          name: configuration.name,
          service: new GrpcKmsService(configuration, metrics.latency),
          metrics,
          log,
          clock: systemClock,
        }),
    );
    await Promise.all(all.map((provider) => provider.start()));
    return new KmsProviders(configurations, all);
  }
}

/** Key services of one configuration. */
class KmsProviders implements AsyncDisposable {
  constructor(
    readonly configurations: readonly KmsConfiguration[],
    readonly all: readonly KmsProvider[],
  ) {}

  /** Time for which running requests may still use them: twice their timeouts. */
  get graceMs(): number {
    return 2 * this.configurations.reduce((sum, { timeoutMs }) => sum + timeoutMs, 0);
  }

  transformerOf(configuration: KmsConfiguration): Transformer {
    return this.all[this.configurations.indexOf(configuration)] as KmsProvider;
  }

  /** Rejects with the problems of unhealthy services, by their numbers. */
  async check(): Promise<void> {
    const results = await Promise.allSettled(this.all.map((provider) => provider.check()));
    const problems = results.flatMap((result, i) =>
      result.status === 'rejected' ? `kms-provider-${i}: ${(result.reason as Error).message}` : [],
    );
    if (problems.length > 0) throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map((provider) => provider[Symbol.asyncDispose]()));
  }
}

function isKms(provider: Transformer | KmsConfiguration): provider is KmsConfiguration {
  return 'endpoint' in provider;
}

/**
 * Returns the transformers of values by key. Built-in resources are identified by their storage path; other keys with at least two
 * segments, `/example.com/widgets/…`, belong to custom resources. Values of other keys are stored unchanged.
 */
function transformersFor(
  rules: readonly EncryptionRule[],
  providers: KmsProviders,
  scheme: Scheme,
  metrics: TransformationMetrics,
): TransformersOf {
  const resourceOf = resourcesByPlace(scheme);
  const known = new Map<string, TransformerChain | undefined>();
  return (key) => {
    const place = placeOf(key);
    if (known.has(place)) return known.get(place);
    const resource = resourceOf(place);
    const found = resource && providersFor(rules, resource);
    const transformers =
      found &&
      new TransformerChain(
        found.map((one) => (isKms(one) ? providers.transformerOf(one) : one)),
        metrics.of(groupResourceString(resource)),
      );
    known.set(place, transformers);
    return transformers;
  };
}
