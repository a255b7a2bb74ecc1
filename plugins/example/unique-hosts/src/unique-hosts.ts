import { AdmissionPlugin, type Attributes, forbidden, type Informer, Informers, inject } from 'kubenest/sdk';
import type { Ingress } from 'kubenest/types/networking_v1';

/**
 * Denies an Ingress whose host is used by an Ingress in another namespace. The informer reads the server's own cache without
 * a request.
 */
@AdmissionPlugin({
  name: 'UniqueHosts',
  match: [{ groups: ['networking.k8s.io'], resources: ['ingresses'], operations: ['CREATE', 'UPDATE'] }],
})
export class UniqueHosts {
  readonly #ingresses: Informer<Ingress>;

  constructor(@inject(Informers) informers: Informers) {
    this.#ingresses = informers.for<Ingress>({ group: 'networking.k8s.io', resource: 'ingresses' });
  }

  validate(request: Attributes<Ingress>): void {
    const wanted = new Set(hostsOf(request.object));
    for (const other of this.#ingresses.list()) {
      if (other.metadata.namespace === request.namespace) continue;
      const taken = hostsOf(other).find((host) => wanted.has(host));
      if (taken !== undefined) throw forbidden(request, `host ${taken} belongs to namespace ${other.metadata.namespace}`);
    }
  }
}

function hostsOf({ spec }: Ingress): string[] {
  return (spec?.rules ?? []).flatMap(({ host }) => host ?? []);
}
