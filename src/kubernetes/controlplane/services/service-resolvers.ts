import { newServiceUnavailable } from '#apimachinery/api/errors';
import { quote } from '#apimachinery/runtime/quote';
import type { Informer, Informers } from '#apiserver/registry/informers';
import type { EgressSelector } from '#apiserver/network/egress-selector/egress-selector';
import type { ServiceResolver } from '#apiserver/network/service-resolver';
import type { Endpoint } from '#apiserver/network/endpoint';
import type { EndpointSlice } from '#kubernetes/schema/discovery_v1.gen';
import type { Service, ServicePort } from '#kubernetes/schema/core_v1.gen';

const serviceNameLabel = 'kubernetes.io/service-name';

/** Resolves services to their cluster IPs, which the server's host must route. Upstream: kube-aggregator/pkg/apiserver/resolvers.go. */
export class ClusterIPResolver implements ServiceResolver {
  readonly #services: Informer<Service>;

  constructor(
    informers: Informers,
    readonly egress?: EgressSelector,
  ) {
    this.#services = informers.for({ group: '', resource: 'services' });
  }

  resolve(namespace: string, name: string, port: number): Endpoint {
    const service = serviceNamed(this.#services, namespace, name);
    const { type = 'ClusterIP', clusterIP = '', externalName = '' } = service.spec ?? {};
    if (type === 'ExternalName') return { host: externalName, port };
    if (clusterIP === 'None' && type === 'ClusterIP') throw new Error('cannot route to service with ClusterIP "None"');
    return { host: clusterIP, port: portOf(service, port).port ?? port };
  }
}

/** Resolves services to the address of a random ready pod. Upstream: apiserver/pkg/util/proxy (ResolveEndpoint). */
export class EndpointsResolver implements ServiceResolver {
  readonly #services: Informer<Service>;
  readonly #slices: Informer<EndpointSlice>;

  constructor(
    informers: Informers,
    readonly egress?: EgressSelector,
    readonly random: () => number = Math.random,
  ) {
    this.#services = informers.for({ group: '', resource: 'services' });
    this.#slices = informers.for({ group: 'discovery.k8s.io', resource: 'endpointslices' });
  }

  resolve(namespace: string, name: string, port: number): Endpoint {
    const service = serviceNamed(this.#services, namespace, name);
    const { type = 'ClusterIP', externalName = '' } = service.spec ?? {};
    if (type === 'ExternalName') return { host: externalName, port };
    const portName = portOf(service, port).name ?? '';
    const found = this.#slices
      .list(namespace)
      .filter(({ metadata }) => metadata.labels?.[serviceNameLabel] === name)
      .flatMap(({ endpoints, ports }) => {
        const target = ports?.find((one) => (one.name ?? '') === portName)?.port;
        if (target === undefined) return [];
        return (endpoints ?? [])
          .filter(({ conditions }) => conditions?.ready !== false)
          .flatMap(({ addresses }) => addresses ?? [])
          .map((host) => ({ host, port: target }));
      });
    const endpoint = found[Math.floor(this.random() * found.length)];
    if (!endpoint) throw newServiceUnavailable(`no endpoints available for service ${quote(name)}`);
    return endpoint;
  }
}

function serviceNamed(services: Informer<Service>, namespace: string, name: string): Service {
  const service = services.get(namespace, name);
  if (!service) throw new Error(`service ${quote(name)} not found`);
  return service;
}

function portOf({ metadata, spec }: Service, port: number): ServicePort {
  const found = spec?.ports?.find((one) => one.port === port);
  if (!found) throw newServiceUnavailable(`no service port ${port} found for service ${quote(metadata.name ?? '')}`);
  return found;
}
