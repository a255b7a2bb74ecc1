/** Something that happens once in the life of a server, and stays true. */
export class LifecycleSignal {
  #fired = false;
  #resolve: () => void = () => {};
  /** Resolves when it has happened. */
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

/** The signals of a server's life, in about the order in which they fire. Upstream: apiserver/pkg/server/lifecycle_signals.go. */
export class LifecycleSignals {
  /** SIGTERM came: /readyz fails from now on, everything else is served. */
  readonly shutdownInitiated = new LifecycleSignal('ShutdownInitiated');
  /** `--shutdown-delay-duration` is over: load balancers have had their time to notice. */
  readonly afterShutdownDelayDuration = new LifecycleSignal('AfterShutdownDelayDuration');
  readonly preShutdownHooksStopped = new LifecycleSignal('PreShutdownHooksStopped');
  /** New requests are refused, by a closed port or by 429. */
  readonly notAcceptingNewRequest = new LifecycleSignal('NotAcceptingNewRequest');
  /** All requests but long-running ones are answered. */
  readonly inFlightRequestsDrained = new LifecycleSignal('InFlightRequestsDrained');
  readonly httpServerStoppedListening = new LifecycleSignal('HTTPServerStoppedListening');
  /** All checks of /readyz passed for the first time. */
  readonly hasBeenReady = new LifecycleSignal('HasBeenReady');
  /** All paths are installed: from now on a 404 is one. */
  readonly muxAndDiscoveryComplete = new LifecycleSignal('MuxAndDiscoveryComplete');
}
