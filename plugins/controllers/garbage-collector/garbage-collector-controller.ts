import {
  Clock,
  Controller,
  ControllerClient,
  EventRecorder,
  Informers,
  inject,
  Logger,
  type ServedResource,
  servedResources,
  SharedInformers,
  WorkQueue,
} from 'kubenest/sdk';
import { asManager } from '../common/as-manager.ts';
import { Collector } from './collector.ts';
import { Monitors } from './monitors.ts';
import { type GraphChange, ObjectGraph } from './object-graph.ts';

const definitions = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };
const workers = 20;
/** Interval at which the served resources are read again; changes of custom resources are noticed sooner. Upstream: 30 s. */
const refreshMs = 30_000;
/** Delay after a failure: on a new store, the permissions may not be known yet. */
const retryMs = 1_000;
/** Delay after a change of a custom resource definition, in which others follow. */
const settleMs = 50;

/**
 * Deletes objects whose owners are gone, and completes deletions that wait for dependents. It follows the objects of all resources that
 * this server stores, custom ones too. Upstream: pkg/controller/garbagecollector.
 */
@Controller({
  name: 'garbage-collector-controller',
  serviceAccount: 'generic-garbage-collector',
  component: 'garbage-collector-controller',
  ...asManager,
})
export class GarbageCollectorController {
  readonly #graph = new ObjectGraph();
  readonly #toDelete: WorkQueue;
  readonly #toOrphan: WorkQueue;
  readonly #collector: Collector;
  readonly #monitors: Monitors;
  #resources: readonly ServedResource[] = [];

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) private readonly shared: SharedInformers,
    @inject(Informers) informers: Informers,
    @inject(EventRecorder) recorder: EventRecorder,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
  ) {
    this.#toDelete = new WorkQueue({ clock });
    this.#toOrphan = new WorkQueue({ clock });
    this.#collector = new Collector({
      graph: this.#graph,
      client,
      recorder,
      resourceOf: (group, kind) => this.#resources.find((resource) => resource.group === group && resource.kind === kind),
      requeue: (uid) => this.#toDelete.addRateLimited(uid),
    });
    this.#monitors = new Monitors(informers, {
      changed: (object, resource) => this.#enqueue(this.#graph.put(object, resource)),
      deleted: ({ metadata }) => this.#enqueue(this.#graph.remove(metadata.uid as string)),
      dropped: (resource) => {
        for (const { uid } of this.#graph.ofResource(resource)) this.#enqueue(this.#graph.remove(uid));
      },
      interrupted: (resource) => {
        for (const { uid } of this.#graph.ofResource(resource)) this.#graph.forget(uid);
      },
      resumed: () => this.#enqueue({ toDelete: this.#graph.withUnknownOwners(), toOrphan: [] }),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const refresh = (): Promise<void> =>
      this.#refresh().catch((error: unknown) => {
        this.logger.error({ reason: String(error) }, 'the garbage collector cannot read discovery');
        if (!signal.aborted) this.clock.after(retryMs, () => void refresh());
      });
    await refresh();
    const stopRefreshing = this.clock.every(refreshMs, () => void refresh());
    using _definitions = this.shared.for(definitions).handle(this.#whenSettled(refresh));
    using _monitors = this.#monitors;
    const end = (): void => {
      stopRefreshing();
      this.#toDelete.shutDown();
      this.#toOrphan.shutDown();
    };
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    await Promise.all([
      ...this.#work(this.#toDelete, (uid) => this.#collector.attemptToDelete(uid)),
      ...this.#work(this.#toOrphan, (uid) => this.#collector.attemptToOrphan(uid)),
    ]);
  }

  async #refresh(): Promise<void> {
    const { resources } = await servedResources(this.client);
    this.#resources = resources;
    const crds = this.shared.for(definitions);
    await this.#monitors.follow(resources, ({ group, resource }) => crds.get('', `${resource}.${group}`)?.metadata.uid ?? '');
  }

  /** Returns a handler that calls `refresh` once after a series of changes. */
  #whenSettled(refresh: () => Promise<void>): { added(): void; updated(): void; deleted(): void } {
    let cancel: (() => void) | undefined;
    const later = (): void => {
      cancel?.();
      cancel = this.clock.after(settleMs, () => void refresh());
    };
    return { added: later, updated: later, deleted: later };
  }

  #enqueue({ toDelete, toOrphan }: GraphChange): void {
    for (const { uid } of toDelete) this.#toDelete.add(uid);
    for (const { uid } of toOrphan) this.#toOrphan.add(uid);
  }

  #work(queue: WorkQueue, work: (uid: string) => Promise<void>): Promise<void>[] {
    return Array.from({ length: workers }, async () => {
      for (let uid = await queue.get(); uid !== undefined; uid = await queue.get()) {
        try {
          await work(uid);
          queue.forget(uid);
        } catch (error) {
          this.logger.error({ uid, reason: (error as Error).message }, 'the garbage collector failed to process an object');
          queue.addRateLimited(uid);
        }
        queue.done(uid);
      }
    });
  }
}
