import type { Clock } from '#apiserver/base/clock';
import type { Logger } from '#apiserver/base/logger';
import type { ControllerOptions } from './controller.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { type ControllerParts, ControllerRunner } from './controller-runner.ts';
import type { LocalComponents } from './local-components.ts';

/** Lease of controllers that name none. */
export const defaultLease = 'kubenest-controllers';

/** A controller that the manager may run, also several times in its life: whenever this server becomes the holder of its lease. */
export interface ManagedController {
  readonly options: ControllerOptions;
  /** Prepares what it needs in the cluster, such as its role. */
  prepare(): Promise<void>;
  /** Creates the instance for one term. Throws an error that names the controller. */
  make(): Pick<ControllerParts, 'controller' | 'informers' | 'requests' | 'store' | 'traces' | 'onFault'>;
  /** Releases the controller of a term after its end. Must not reject. */
  dispose?(controller: ControllerParts['controller']): Promise<void>;
}

/** Runs `lead` whenever this server holds the lease, until its signal aborts. Resolves after `signal` has aborted and `lead` has ended. */
export type Election = (lease: string, signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>) => Promise<void>;

export interface ControllerManagerParts {
  readonly controllers: readonly ManagedController[];
  readonly elect: Election;
  readonly components?: LocalComponents;
  readonly metrics: ControllerMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Runs controllers: those of one lease together, on the server that holds it. Upstream: cmd/kube-controller-manager/app. */
export class ControllerManager {
  readonly #running = new Set<ControllerRunner>();

  constructor(readonly parts: ControllerManagerParts) {}

  /** The controllers that run on this server now. */
  get running(): readonly ControllerRunner[] {
    return [...this.#running];
  }

  /** Runs until the signal aborts; resolves once all controllers have ended and the leases are released. */
  async run(signal: AbortSignal): Promise<void> {
    const byLease = Map.groupBy(this.parts.controllers, ({ options }) => options.lease ?? defaultLease);
    for (const lease of byLease.keys()) this.parts.components?.add(lease);
    await Promise.all(
      [...byLease].map(([lease, controllers]) =>
        this.parts.elect(lease, signal, async (term) => {
          await Promise.all(controllers.map((controller) => this.#runOne(controller, term)));
        }),
      ),
    );
  }

  /** Runs one controller for a term. Its failure does not affect the others. */
  async #runOne({ options, prepare, make, dispose }: ManagedController, term: AbortSignal): Promise<void> {
    const { metrics, clock, logger } = this.parts;
    let made: ReturnType<ManagedController['make']> | undefined;
    let runner: ControllerRunner | undefined;
    try {
      await prepare();
      made = make();
      runner = new ControllerRunner({ options, ...made, metrics, clock, logger });
      this.#running.add(runner);
      await runner.run(term);
    } catch (error) {
      logger.error({ controller: options.name, reason: (error as Error).message }, `controller ${options.name} ended`);
    } finally {
      if (runner) this.#running.delete(runner);
      if (made) await dispose?.(made.controller);
    }
  }
}
