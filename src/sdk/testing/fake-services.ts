import type { Authorizer } from '#apiserver/authorization/authorizer';
import type { PluginServices } from '#apiserver/plugins/plugin-services';
import type { KubeObject } from '#apimachinery/meta/types';
import type { Client, ClientTarget } from '#apiserver/registry/client';
import type { Metrics } from '#apiserver/base/metrics/metrics';
import { systemClock } from '#apiserver/base/clock';
import { fakeInformers } from './fake-informers.ts';

const nothing = (): void => {};
const silentLogger = { info: nothing, warn: nothing, error: nothing };
const metrics: Metrics = {
  counter: () => ({ inc: nothing }),
  gauge: () => ({ inc: nothing, set: nothing }),
  histogram: () => ({ observe: nothing }),
};
const missing = (): never => {
  throw new Error('fakeClient: unexpected call: pass a client with this method in the services');
};

/** Methods of a client in a test, whose objects may be of any type. */
export interface FakeClientMethods extends Pick<Client, 'delete' | 'asUser'> {
  get(target: ClientTarget, namespace: string, name: string): Promise<KubeObject | undefined>;
  list(target: ClientTarget, namespace: string): Promise<KubeObject[]>;
  create(target: ClientTarget, object: KubeObject): Promise<KubeObject>;
  update(
    target: ClientTarget,
    namespace: string,
    name: string,
    change: (object: KubeObject) => KubeObject | undefined,
  ): Promise<KubeObject | undefined>;
}

/** A client with the given methods; any other call fails the test. */
export function fakeClient(methods: Partial<FakeClientMethods> = {}): Client {
  return { get: missing, list: missing, create: missing, update: missing, delete: missing, asUser: missing, ...methods } as Client;
}

/** An authorizer that allows requests for which the function returns true, and has no opinion on the others. */
export function fakeAuthorizer(allows: (attributes: Parameters<Authorizer['authorize']>[0]) => boolean): Authorizer {
  return { name: 'Fake', authorize: (attributes) => ({ decision: allows(attributes) ? 'Allow' : 'NoOpinion', reason: '' }) };
}

/**
 * Services for a plugin in a test. Defaults: empty informers, an authorizer that allows nothing, no log, no metrics, the system clock, all
 * features on.
 */
export function fakeServices(services: Partial<PluginServices> = {}): PluginServices {
  return {
    informers: fakeInformers(),
    client: fakeClient(),
    servedKinds: { find: () => undefined },
    authorizer: fakeAuthorizer(() => false),
    logger: silentLogger,
    metrics,
    serviceResolver: {
      resolve: (namespace, name) => {
        throw new Error(`fakeServices: unexpected resolution of service ${namespace}/${name}: pass a serviceResolver`);
      },
    },
    restMapper: { resourcesOf: () => [] },
    manifests: {
      follow: ({ folder }) => {
        throw new Error(`fakeServices: unexpected manifest folder ${folder}: pass manifests`);
      },
    },
    clock: systemClock,
    featureGates: { enabled: () => true },
    shutdownSignal: new AbortController().signal,
    ...services,
  };
}
