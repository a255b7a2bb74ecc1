import { Inject, Injectable } from '@nestjs/common';
import { systemClock } from '#apiserver/base/clock';
import { FeatureGates } from '#apiserver/base/feature-gates';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { RegistryMetrics } from '#apiserver/base/metrics/metrics';
import { WorkQueueMetrics } from '#apiserver/base/metrics/workqueue-metrics';
import { ControllerManager, type ManagedController } from '#apiserver/controllers/controller-manager';
import { ControllerMetrics } from '#apiserver/controllers/controller-metrics';
import { LocalComponents } from '#apiserver/controllers/local-components';
import type { GenericServer } from '#apiserver/server/generic-server';
import { LoopbackClient } from '#apiserver/server/loopback-client';
import { Log } from '#cmd/logging/log';
import { ServerPart } from '#cmd/modules/server-part';
import type { ServerConfig } from '#cmd/server-config';
import { whenRolesAreKnown } from '#kubernetes/controlplane/controller-roles';
import { Elections } from './elections.ts';
import { EventRecorders } from './event-recorders.ts';
import { ManagedControllers } from './managed-controllers.ts';

/** Injection token of the selected built-in controllers. */
export const SelectedControllers = Symbol('SelectedControllers');

/** Runs the controllers of the server and of packages, from its start until its shutdown. */
@Injectable()
@ServerPart()
export class Controllers implements ServerPart {
  #ofPackages: readonly ManagedController[] = [];
  readonly #ending = new AbortController();
  #ended: Promise<void> | undefined;

  constructor(
    @Inject(SelectedControllers) private readonly selected: ServerConfig['controllers'],
    @Inject(ManagedControllers) private readonly managed: ManagedControllers,
    @Inject(Elections) private readonly elections: Elections,
    @Inject(EventRecorders) private readonly recorders: EventRecorders,
    @Inject(LoopbackClient) private readonly loopback: LoopbackClient,
    @Inject(LimitedRegistry) private readonly registry: LimitedRegistry,
    @Inject(WorkQueueMetrics) private readonly queueMetrics: WorkQueueMetrics,
    @Inject(FeatureGates) private readonly features: FeatureGates,
    @Inject(LocalComponents) private readonly components: LocalComponents,
    @Inject(Log) private readonly log: Log,
  ) {}

  install({ hooks }: GenericServer): void {
    this.#ofPackages = this.managed.ofPackages();
    hooks.addPreShutdown({
      name: 'stop-controllers',
      run: async () => {
        this.#ending.abort();
        await this.#ended;
        await this.recorders.flush();
      },
    });
  }

  /** Runs the controllers until the server shuts down. Called once the server is ready, so that they do not delay its start. */
  start(): void {
    if (!this.selected && this.#ofPackages.length === 0) return;
    this.#ended = this.#run(this.#ending.signal).catch((error: unknown) =>
      this.log.error({ reason: (error as Error).message }, 'the controllers have ended'),
    );
  }

  async #run(signal: AbortSignal): Promise<void> {
    const builtIn = (await this.selected?.()) ?? [];
    const controllers = [...builtIn.map((one) => this.managed.manage(one)), ...this.#ofPackages];
    const manager = new ControllerManager({
      controllers: controllers.filter(({ options: { featureGate } }) => featureGate === undefined || this.features.enabled(featureGate)),
      elect: this.elections.run,
      components: this.components,
      metrics: new ControllerMetrics(new RegistryMetrics(this.registry), this.queueMetrics),
      clock: systemClock,
      logger: this.log,
    });
    await whenRolesAreKnown(this.loopback);
    await manager.run(signal);
  }
}
