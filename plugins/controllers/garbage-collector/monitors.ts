import type { Informers, KubeObject, ServedResource } from 'kubenest/sdk';

export interface MonitorListener {
  changed(object: KubeObject, resource: ServedResource): void;
  deleted(object: KubeObject): void;
  /** The resource is no longer served, and its objects are gone. */
  dropped(resource: ServedResource): void;
  /** Changes may have been missed: all current objects of the resource follow as `changed`, then `resumed`. */
  interrupted(resource: ServedResource): void;
  resumed(): void;
}

/** Resources whose objects have no owners and change often. Upstream: DefaultIgnoredResources. */
const ignored = new Set(['/events', 'events.k8s.io/events']);

interface Monitor {
  readonly resource: ServedResource;
  readonly subscription: Disposable;
  readonly synced: Promise<void>;
}

/** Subscriptions to all deletable resources that this server stores, updated when resources are added or removed. */
export class Monitors {
  readonly #monitors = new Map<string, Monitor>();

  constructor(
    readonly informers: Informers,
    readonly listener: MonitorListener,
  ) {}

  /**
   * Follows the resources from now on. `identityOf`: returns a value that changes when a resource is replaced by another one of the same
   * name. Resolves when the objects of new resources are known.
   */
  async follow(resources: readonly ServedResource[], identityOf: (resource: ServedResource) => string): Promise<void> {
    const wanted = new Map(
      resources.filter(isMonitored).map((resource) => [`${resource.group}/${resource.resource}/${identityOf(resource)}`, resource]),
    );
    for (const [key, monitor] of this.#monitors) {
      if (wanted.has(key)) continue;
      monitor.subscription[Symbol.dispose]();
      this.#monitors.delete(key);
      this.listener.dropped(monitor.resource);
    }
    for (const [key, resource] of wanted) {
      const monitor = this.#monitors.has(key) ? undefined : this.#start(resource);
      if (monitor) this.#monitors.set(key, monitor);
    }
    await Promise.all([...this.#monitors.values()].map(({ synced }) => synced));
  }

  [Symbol.dispose](): void {
    for (const { subscription } of this.#monitors.values()) subscription[Symbol.dispose]();
    this.#monitors.clear();
  }

  /** Returns undefined for a resource of an extension server, whose objects are not here. */
  #start(resource: ServedResource): Monitor | undefined {
    const { promise: synced, resolve } = Promise.withResolvers<void>();
    try {
      const informer = this.informers.for(resource);
      const subscription = informer.subscribe(
        (type, object) => {
          if (type === 'DELETED') this.listener.deleted(object);
          else this.listener.changed(object, resource);
        },
        {
          restarted: () => this.listener.interrupted(resource),
          synced: () => {
            resolve();
            this.listener.resumed();
          },
        },
      );
      return { resource, subscription, synced };
    } catch {
      return undefined;
    }
  }
}

function isMonitored({ group, resource, verbs }: ServedResource): boolean {
  return ['list', 'watch', 'delete'].every((verb) => verbs.includes(verb)) && !ignored.has(`${group}/${resource}`);
}
