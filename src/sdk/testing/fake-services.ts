import type { Authorizer } from '#apiserver/authorization/authorizer';
import type { PluginServices } from '#apiserver/plugins/plugin-services';
import type { Client } from '#apiserver/registry/client';
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
  throw new Error('the test gives its plugin no client that can do this: name one in the services');
};

/** A client that can do what it is given, and fails the test with whatever else is asked of it. */
export function fakeClient(methods: Partial<Client> = {}): Client {
  return { get: missing, create: missing, update: missing, delete: missing, asUser: missing, ...methods };
}

/** An authorizer that allows what the function says yes to, and has no opinion on the rest. */
export function fakeAuthorizer(allows: (attributes: Parameters<Authorizer['authorize']>[0]) => boolean): Authorizer {
  return { name: 'Fake', authorize: (attributes) => ({ decision: allows(attributes) ? 'Allow' : 'NoOpinion', reason: '' }) };
}

/** What a plugin gets by injection in a test: empty informers, an authorizer that allows nothing, no log, no metrics, the real time, every feature on, unless named. */
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
        throw new Error(`the test resolves no service ${namespace}/${name}`);
      },
    },
    restMapper: { resourcesOf: () => [] },
    manifests: {
      follow: ({ folder }) => {
        throw new Error(`the test follows no folder ${folder}`);
      },
    },
    clock: systemClock,
    featureGates: { enabled: () => true },
    shutdownSignal: new AbortController().signal,
    ...services,
  };
}
