import type { LifecycleSignals } from './signals.ts';
import type { WaitGroup } from '#apiserver/base/wait-group';

export interface GracefulShutdownOptions {
  readonly shutdownDelayMs: number;
  /**
   * `--shutdown-send-retry-after`: keep the port open and respond with 429 until requests are drained, instead of closing the port
   * first.
   */
  readonly sendRetryAfter: boolean;
  /** `--shutdown-watch-termination-grace-period`; 0: watches are not drained. */
  readonly watchGraceMs: number;
  /** Maximum time of draining requests. */
  readonly drainMs: number;
}

export interface ShutdownParts {
  readonly signals: LifecycleSignals;
  readonly requests: WaitGroup;
  readonly watches: WaitGroup;
  /** Ends this fraction of the open watches immediately; called until none is left. */
  terminateWatches(fraction: number): void;
  runPreShutdownHooks(): Promise<void>;
  stopListening(): void;
  /** Resolves when no client is likely to send another request; within a second or two. */
  connectionsSettled(): Promise<void>;
  /** Closes audit backends, then the stores, after the last request. */
  closeBackends(): Promise<void>;
  closeConnections(): Promise<void>;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const retryAfterLingerMs = 2_000;
/** Timeout of the hooks and of closing the backends, each, so that an unresponsive store cannot block the exit. */
const storeMs = 10_000;

/** Waits for a promise, up to a timeout; leaves no timer behind. */
async function atMost(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

/**
 * Shuts the server down, from SIGTERM to the exit:
 *
 *     ShutdownInitiated -> (delay) AfterShutdownDelayDuration --+-> NotAcceptingNewRequest -> drain -> InFlightRequestsDrained
 *                       -> hooks   PreShutdownHooksStopped    --+        | port closed immediately, or after a drain with 429s
 *                                                                        -> HTTPServerStoppedListening -> backends closed
 *
 * A hook that fails, for example because the store does not answer, fails the shutdown at its end: the requests are drained first.
 * Upstream: apiserver/pkg/server/genericapiserver.go (RunWithContext).
 */
export async function shutDownGracefully(parts: ShutdownParts, options: GracefulShutdownOptions): Promise<void> {
  const { signals } = parts;
  signals.shutdownInitiated.fire();
  let failure: { readonly error: unknown } | undefined;
  const hooks = atMost(storeMs, parts.runPreShutdownHooks())
    .catch((error: unknown) => {
      failure = { error };
    })
    .finally(() => signals.preShutdownHooksStopped.fire());
  await sleep(options.shutdownDelayMs);
  signals.afterShutdownDelayDuration.fire();
  await hooks;
  signals.notAcceptingNewRequest.fire();

  if (!options.sendRetryAfter) {
    parts.stopListening();
    signals.httpServerStoppedListening.fire();
    await parts.connectionsSettled();
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
    await parts.connectionsSettled();
    await atMost(retryAfterLingerMs, parts.requests.empty());
  }
  await parts.closeConnections();
  await atMost(storeMs, parts.closeBackends());
  if (failure) throw (failure as { readonly error: unknown }).error;
}

/** Ends watches evenly over the grace period, so that their clients do not all reconnect at once. */
async function drainWatches(parts: ShutdownParts, graceMs: number): Promise<void> {
  const steps = 20;
  for (let step = 0; graceMs > 0 && step < steps && parts.watches.size > 0; step += 1) {
    parts.terminateWatches(1 / (steps - step));
    await atMost(graceMs / steps, parts.watches.empty());
  }
  parts.terminateWatches(1);
}
