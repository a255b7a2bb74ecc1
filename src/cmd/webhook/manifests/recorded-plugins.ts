import { groupResourceString } from '#apimachinery/api/errors';
import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import type { AdmissionHandler } from '#apiserver/admission/attributes';
import { systemClock } from '#apiserver/base/clock';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { newServiceContainer, type PluginServices } from '#apiserver/plugins/plugin-services';
import { scopeTest } from '#apiserver/plugins/policy/policy-control';
import type { Informer, Informers } from '#apiserver/registry/informers';
import { defaultFeatureGates } from '#cmd/options/feature-options';
import type { PluginOptions } from '#cmd/options/plugin-options';
import { admissionPluginsOf } from '../webhook-server.ts';
import type { PluginScope, ServedPlugin } from './webhook-entries.ts';

/** The plugins of a configuration, with the resources that they follow. */
export interface RecordedPlugins {
  readonly plugins: readonly ServedPlugin[];
  readonly followed: readonly GroupResource[];
}

/**
 * Creates the plugins without a cluster, and records their phases and the informers that their constructors request. Throws an error that
 * names a plugin which cannot be created.
 */
export function recordPlugins(contributions: readonly LoadedContribution[], options: PluginOptions): RecordedPlugins {
  const informers = new RecordedInformers();
  const ending = new AbortController();
  const services = newServiceContainer(silentServices(informers, ending.signal));
  try {
    const plugins = admissionPluginsOf(contributions).map((contribution): ServedPlugin => {
      const plugin = contribution.make(services) as AdmissionHandler;
      if (contribution.policy) scopeTest(contribution.policy, informers);
      return {
        contribution,
        phases: [...(plugin.admit ? ['mutate' as const] : []), ...(plugin.validate ? ['validate' as const] : [])],
        scope: scopeOf(contribution, options),
      };
    });
    return { plugins, followed: informers.asked };
  } finally {
    ending.abort();
  }
}

/** Returns the scope of a plugin's policy as the file has it, which the reader of the file has checked. */
function scopeOf({ entry, described }: LoadedContribution, { packages }: PluginOptions): PluginScope | undefined {
  const policy = entry === undefined ? undefined : packages[entry]?.policies?.[described.options.name];
  return (policy as { readonly scope?: PluginScope } | undefined)?.scope;
}

class RecordedInformers implements Informers {
  readonly #asked = new Map<string, GroupResource>();

  get asked(): GroupResource[] {
    return [...this.#asked.values()];
  }

  for<T extends KubeObject>({ group, resource }: GroupResource): Informer<T> {
    this.#asked.set(groupResourceString({ group, resource }), { group, resource });
    return { get: () => undefined, list: () => [], subscribe: () => ({ [Symbol.dispose]: () => {} }) };
  }
}

const ignore = (): void => {};
const silentLogger = { info: ignore, warn: ignore, error: ignore };
const silentMetrics: PluginServices['metrics'] = {
  counter: () => ({ inc: ignore }),
  gauge: () => ({ inc: ignore, set: ignore }),
  histogram: () => ({ observe: ignore }),
};

function silentServices(informers: Informers, shutdownSignal: AbortSignal): PluginServices {
  const noCluster = (): never => {
    throw new Error('`kubenest webhook manifests` has no cluster: plugins must not send requests in their constructors');
  };
  return {
    informers,
    client: { get: noCluster, list: noCluster, create: noCluster, update: noCluster, delete: noCluster, asUser: noCluster },
    servedKinds: { find: () => undefined },
    authorizer: { name: 'None', authorize: () => ({ decision: 'NoOpinion', reason: '' }) },
    logger: silentLogger,
    metrics: silentMetrics,
    serviceResolver: { resolve: noCluster },
    restMapper: { resourcesOf: () => [] },
    manifests: { follow: noCluster },
    clock: systemClock,
    featureGates: defaultFeatureGates(),
    shutdownSignal,
  };
}
