/** An event that happens at most once in the lifecycle of a server. */
export class LifecycleSignal {
  #fired = false;
  #resolve: () => void = () => {};
  /** Resolves when the event has happened. */
  readonly signaled: Promise<void> = new Promise((resolve) => {
    this.#resolve = resolve;
  });

  constructor(readonly name: string) {}

  get fired(): boolean {
    return this.#fired;
  }

  fire(): void {
    if (this.#fired) return;
    this.#fired = true;
    this.#resolve();
  }
}

/**
 * Lifecycle events of a server, approximately in the order in which they fire. Upstream: apiserver/pkg/server/lifecycle_signals.go.
 */
export class LifecycleSignals {
  /** Fires on SIGTERM. /readyz fails from then on; all other requests are served. */
  readonly shutdownInitiated = new LifecycleSignal('ShutdownInitiated');
  /** Fires after `--shutdown-delay-duration`, in which load balancers detect the failing /readyz. */
  readonly afterShutdownDelayDuration = new LifecycleSignal('AfterShutdownDelayDuration');
  readonly preShutdownHooksStopped = new LifecycleSignal('PreShutdownHooksStopped');
  /** Fires when new requests are rejected, by a closed port or by 429. */
  readonly notAcceptingNewRequest = new LifecycleSignal('NotAcceptingNewRequest');
  /** Fires when all requests but long-running ones are finished. */
  readonly inFlightRequestsDrained = new LifecycleSignal('InFlightRequestsDrained');
  readonly httpServerStoppedListening = new LifecycleSignal('HTTPServerStoppedListening');
  /** Fires when all checks of /readyz pass for the first time. */
  readonly hasBeenReady = new LifecycleSignal('HasBeenReady');
  /** Fires when all paths are installed; an unknown path is 404 from then on. */
  readonly muxAndDiscoveryComplete = new LifecycleSignal('MuxAndDiscoveryComplete');
}
