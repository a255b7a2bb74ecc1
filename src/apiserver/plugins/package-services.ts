import { Container } from 'inversify';
import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import { deepFreeze } from '#apimachinery/runtime/deep-freeze';
import { Logger } from '#apiserver/base/logger';
import { Metrics } from '#apiserver/base/metrics/metrics';
import { type Informer, Informers } from '#apiserver/registry/informers';
import { PackageMetrics } from './package-metrics.ts';
import { PluginFailures } from './plugin-failures.ts';
import { type PluginOrigin, runnerOf } from './plugin-origin.ts';
import { PluginServices } from './plugin-services.ts';

/**
 * Creates the parent of a package's containers: the services of the server, except that objects of informers are frozen, errors of
 * listeners are failures of the package, and metrics are checked. The objects are those of the server's own cache, by which it authorizes
 * and admits requests.
 */
export function newPackageServices(services: Container, origin: PluginOrigin): Container {
  const container = new Container({ parent: services });
  const newInformers = (): Informers => {
    const failures = new PluginFailures(services.get<Logger>(Logger), services.get<Metrics>(Metrics));
    return new PackageInformers(services.get<Informers>(Informers), failures, origin);
  };
  container.bind(Metrics).toDynamicValue(() => new PackageMetrics(services.get<Metrics>(Metrics)));
  container.bind(Informers).toDynamicValue(newInformers).inSingletonScope();
  container.bind(PluginServices).toDynamicValue(() => ({
    ...services.get<PluginServices>(PluginServices),
    informers: container.get<Informers>(Informers),
    metrics: container.get<Metrics>(Metrics),
  }));
  return container;
}

class PackageInformers implements Informers {
  constructor(
    private readonly informers: Informers,
    private readonly failures: PluginFailures,
    private readonly origin: PluginOrigin,
  ) {}

  for<T extends KubeObject = KubeObject>(resource: GroupResource): Informer<T> {
    const informer = this.informers.for<T>(resource);
    const run = runnerOf(this.origin);
    const guarded =
      <A extends readonly unknown[]>(listener: (...args: A) => void) =>
      (...args: A): void => {
        try {
          run(() => listener(...args));
        } catch (error) {
          const name = { sort: 'informer listener', name: this.origin.file ?? '', package: this.origin.package } as const;
          this.failures.record(name, 'error', error, { resource: resource.resource });
        }
      };
    return {
      get: (namespace, name) => deepFreeze(informer.get(namespace, name)),
      list: (namespace) => informer.list(namespace).map(deepFreeze),
      subscribe: (listener, { restarted, synced } = {}) =>
        informer.subscribe(
          guarded((type, object) => listener(type, deepFreeze(object))),
          {
            ...(restarted && { restarted: guarded(restarted) }),
            ...(synced && { synced: guarded(synced) }),
          },
        ),
    };
  }
}
