import { AdmissionPlugin, type Attributes, Clock, Configuration, inject } from 'kubenest/sdk';
import type { Event } from 'kubenest/kinds';
import { aggregateMessages, newTooManyRequestsError } from '#sdk/internal';
import { ArrayNotEmpty, ConfigurationError, IsIn, IsInt, IsOptional, Min, Type, ValidateNested } from 'kubenest/sdk/configuration';

const defaultCacheSize = 4_096;

export class EventLimit {
  @IsIn(['Server', 'Namespace', 'User', 'SourceAndObject'])
  type: 'Server' | 'Namespace' | 'User' | 'SourceAndObject' = 'Server';

  /** Sustained events per second. */
  @IsInt()
  @Min(1, { message: 'must be positive' })
  qps = 0;

  /** Maximum burst of events. */
  @IsInt()
  @Min(1, { message: 'must be positive' })
  burst = 0;

  /** Maximum number of namespaces, users or objects with a token bucket; the least recently used are evicted. */
  @IsOptional()
  @IsInt()
  @Min(0, { message: 'must not be negative' })
  cacheSize = 0;
}

/**
 * Configuration of EventRateLimit. Upstream: plugin/pkg/admission/eventratelimit/apis
 * (eventratelimit.admission.k8s.io/v1alpha1).
 */
export class EventRateLimitConfiguration {
  static readonly kinds = ['eventratelimit.admission.k8s.io/v1alpha1, Configuration'];

  @ArrayNotEmpty({ message: 'must not be empty' })
  @ValidateNested({ each: true })
  @Type(() => EventLimit)
  limits: readonly EventLimit[] = [];
}

/**
 * Limits the rate of core/v1 events; events of events.k8s.io are not matched. Upstream:
 * kubernetes/plugin/pkg/admission/eventratelimit/admission.go.
 */
@AdmissionPlugin({
  name: 'EventRateLimit',
  configuration: EventRateLimitConfiguration,
  match: [{ groups: [''], resources: ['events'], operations: ['CREATE', 'UPDATE'] }],
})
export class EventRateLimit {
  readonly #enforcers: readonly LimitEnforcer[];

  constructor(@inject(Configuration) { limits }: EventRateLimitConfiguration, @inject(Clock) clock: Clock) {
    if (limits.length === 0) throw new ConfigurationError(['limits must not be empty']);
    this.#enforcers = limits.map((limit) => new LimitEnforcer(limit, clock));
  }

  validate(request: Attributes<Event>): void {
    if (request.dryRun) return;
    const reached = this.#enforcers.flatMap((enforcer) => enforcer.refusal(request) ?? []);
    if (reached.length > 0) throw newTooManyRequestsError(aggregateMessages(reached));
  }
}

/** A limit with an LRU cache of token buckets by key. */
class LimitEnforcer {
  /** Buckets in the order of last use. */
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #size: number;

  constructor(
    readonly limit: EventLimit,
    readonly clock: Clock,
  ) {
    this.#size = limit.type === 'Server' ? 1 : limit.cacheSize || defaultCacheSize;
  }

  /** Takes a token. Returns the reason of the denial if there is none. */
  refusal(request: Attributes<Event>): string | undefined {
    const key = keyOf(this.limit.type, request);
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.limit, this.clock);
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#size) this.#buckets.delete(this.#buckets.keys().next().value as string);
    return bucket.tryTake() ? undefined : `limit reached on type ${this.limit.type} for key ${key}`;
  }
}

function keyOf(type: EventLimit['type'], { namespace, user, object }: Attributes<Event>): string {
  switch (type) {
    case 'Server':
      return '';
    case 'Namespace':
      return namespace;
    case 'User':
      return user.name;
    case 'SourceAndObject': {
      const { source, involvedObject: of } = object;
      return [source?.component, source?.host, of?.kind, of?.namespace, of?.name, of?.uid, of?.apiVersion]
        .map((part) => part ?? '')
        .join('');
    }
  }
}

class TokenBucket {
  #tokens: number;
  #at: number;

  constructor(
    readonly limit: EventLimit,
    readonly clock: Clock,
  ) {
    this.#tokens = limit.burst;
    this.#at = clock.now();
  }

  tryTake(): boolean {
    const now = this.clock.now();
    this.#tokens = Math.min(this.limit.burst, this.#tokens + ((now - this.#at) / 1_000) * this.limit.qps);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
