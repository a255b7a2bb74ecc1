import type { LifecycleSignals } from './signals.ts';
import type { WaitGroup } from '#apiserver/base/wait-group';

export interface GracefulShutdownOptions {
  readonly shutdownDelayMs: number;
  /** `--shutdown-send-retry-after`: listen on and answer 429 until all is drained, instead of closing the port first. */
  readonly sendRetryAfter: boolean;
  /** `--shutdown-watch-termination-grace-period`; 0: watches are not waited for. */
  readonly watchGraceMs: number;
  /** The longest that requests under way are waited for. */
  readonly drainMs: number;
}

export interface ShutdownParts {
  readonly signals: LifecycleSignals;
  readonly requests: WaitGroup;
  readonly watches: WaitGroup;
  /** Ends a part of the open watches at once; called until none is left. */
  terminateWatches(fraction: number): void;
  runPreShutdownHooks(): Promise<void>;
  stopListening(): void;
  /** What runs once no request is left: audit backends, then the stores. */
  closeBackends(): Promise<void>;
  closeConnections(): Promise<void>;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const retryAfterLingerMs = 2_000;
/** What hooks and backends may take, each: a store that does not answer any more must not keep a process that is to end. */
const storeMs = 10_000;

/** Waits for the work, so long at most; leaves no timer behind. */
async function atMost(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

/**
 * From SIGTERM to the end:
 *
 *     ShutdownInitiated -> (delay) AfterShutdownDelayDuration --+-> NotAcceptingNewRequest -> drain -> InFlightRequestsDrained
 *                       -> hooks   PreShutdownHooksStopped    --+        | port closed at once, or after the drain with 429s
 *                                                                        -> HTTPServerStoppedListening -> backends closed
 *
 * Upstream: apiserver/pkg/server/genericapiserver.go (RunWithContext).
 */
export async function shutDownGracefully(parts: ShutdownParts, options: GracefulShutdownOptions): Promise<void> {
  const { signals } = parts;
  signals.shutdownInitiated.fire();
  const hooks = atMost(storeMs, parts.runPreShutdownHooks()).finally(() => signals.preShutdownHooksStopped.fire());
  await sleep(options.shutdownDelayMs);
  signals.afterShutdownDelayDuration.fire();
  await hooks;
  signals.notAcceptingNewRequest.fire();

  if (!options.sendRetryAfter) {
    parts.stopListening();
    signals.httpServerStoppedListening.fire();
  }
  await Promise.all([atMost(options.drainMs, parts.requests.empty()), drainWatches(parts, options.watchGraceMs)]);
  signals.inFlightRequestsDrained.fire();
  if (options.sendRetryAfter) {
    await atMost(
      retryAfterLingerMs,
      parts.requests.empty().then(() => sleep(100)),
    );
    parts.stopListening();
    signals.httpServerStoppedListening.fire();
  }
  await parts.closeConnections();
  await atMost(storeMs, parts.closeBackends());
}

/** Ends watches evenly over the grace period, so that their clients do not all come back at once. */
async function drainWatches(parts: ShutdownParts, graceMs: number): Promise<void> {
  const steps = 20;
  for (let step = 0; graceMs > 0 && step < steps && parts.watches.size > 0; step += 1) {
    parts.terminateWatches(1 / (steps - step));
    await atMost(graceMs / steps, parts.watches.empty());
  }
  parts.terminateWatches(1);
}
