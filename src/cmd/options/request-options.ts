import { Max, Min } from 'class-validator';
import { compileOrigin } from '#apiserver/endpoints/filters/cors';
import { Check, Flag } from './flag.ts';

const goawayMessage = '--goaway-chance can not be less than 0 or greater than 0.02';

/** Limits of requests, and response headers for browsers. Upstream: apiserver/pkg/server/options/server_run_options.go. */
export class RequestOptions {
  @Flag('request-timeout')
  @Min(0, { message: '--request-timeout can not be negative value' })
  requestTimeout = 60_000;

  /** Minimum timeout of watches in seconds. */
  @Flag('min-request-timeout')
  @Min(0, { message: '--min-request-timeout can not be negative value' })
  minRequestTimeout = 1_800;

  /** Period after the start during which /livez ignores unfinished post-start hooks. */
  @Flag('livez-grace-period')
  @Min(0, { message: '--livez-grace-period can not be a negative value' })
  livezGracePeriod = 0;

  @Flag('max-requests-inflight')
  @Min(0, { message: '--max-requests-inflight can not be negative value' })
  maxRequestsInflight = 400;

  @Flag('max-mutating-requests-inflight')
  @Min(0, { message: '--max-mutating-requests-inflight can not be negative value' })
  maxMutatingRequestsInflight = 200;

  /** False: only the two limits of requests in flight apply, each separately. */
  @Flag('enable-priority-and-fairness')
  enablePriorityAndFairness = true;

  /**
   * Number of traces of recent write requests that /debug/traces keeps; 0: only requests for a trace. Upstream has no such flag.
   */
  @Flag('request-traces')
  @Min(0, { message: '--request-traces can not be negative value' })
  @Max(10_000, { message: '--request-traces can not be greater than 10000' })
  requestTraces = 0;

  @Flag('goaway-chance')
  @Min(0, { message: goawayMessage })
  @Max(0.02, { message: goawayMessage })
  goawayChance = 0;

  @Flag('cors-allowed-origins')
  @Check<RequestOptions>((patterns: readonly string[]) =>
    patterns.flatMap((pattern) => {
      try {
        compileOrigin(pattern);
        return [];
      } catch (error) {
        return `--cors-allowed-origins has an invalid regular expression: ${(error as Error).message}`;
      }
    }),
  )
  corsAllowedOrigins: readonly string[] = [];

  @Flag('strict-transport-security-directives')
  @Check<RequestOptions>((directives: readonly string[]) =>
    directives
      .filter((directive) => !/^(includeSubDomains|preload|max-age=[^=]*)$/.test(directive))
      .map(
        (directive) =>
          `--strict-transport-security-directives ${JSON.stringify(directive)} invalid, allowed values: max-age=expireTime, includeSubDomains, preload`,
      ),
  )
  strictTransportSecurityDirectives: readonly string[] = [];
}
