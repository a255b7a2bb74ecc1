import { AdmissionPlugin, type Attributes, Configuration, deny, type Informer, Informers, inject } from 'kubenest/sdk';
import { IsIn } from 'kubenest/sdk/configuration';
import type { Ingress, IngressRule } from 'kubenest/types/networking_v1';
import { classOf, ingresses } from './ingresses.ts';

export class UniqueIngressHostsConfiguration {
  /** `host`: ingresses do not share hosts. `path`: they may share a host, but not its paths. */
  @IsIn(['host', 'path'])
  unique: 'host' | 'path' = 'host';
  /** Ingresses that may share: those of the same namespace, those of different classes, or none. */
  @IsIn(['namespace', 'class', 'none'])
  sharedBy: 'namespace' | 'class' | 'none' = 'none';
}

/** Denies ingresses for a host that another ingress has. The other one is found in the server's own cache, without a request. */
@AdmissionPlugin({ name: 'UniqueIngressHosts', configuration: UniqueIngressHostsConfiguration, match: ingresses })
export class UniqueIngressHosts {
  readonly #ingresses: Informer<Ingress>;

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Configuration) private readonly configuration: UniqueIngressHostsConfiguration,
  ) {
    this.#ingresses = informers.for<Ingress>({ group: 'networking.k8s.io', resource: 'ingresses' });
  }

  validate(request: Attributes<Ingress>): void {
    const { object } = request;
    const wanted = new Set(this.#keysOf(object));
    for (const other of this.#ingresses.list()) {
      if (isSame(other, object) || this.#mayShare(other, object)) continue;
      const taken = this.#keysOf(other).find((key) => wanted.has(key));
      if (taken !== undefined) deny(request, `${taken} belongs to ingress ${other.metadata.namespace}/${other.metadata.name}`);
    }
  }

  #keysOf({ spec }: Ingress): string[] {
    return (spec?.rules ?? []).flatMap((rule) => (this.configuration.unique === 'host' ? [hostText(rule)] : pathTexts(rule)));
  }

  #mayShare(one: Ingress, other: Ingress): boolean {
    const { sharedBy } = this.configuration;
    if (sharedBy === 'namespace') return one.metadata.namespace === other.metadata.namespace;
    return sharedBy === 'class' && classOf(one) !== classOf(other);
  }
}

const isSame = ({ metadata: a }: Ingress, { metadata: b }: Ingress): boolean => a.namespace === b.namespace && a.name === b.name;
const hostText = ({ host }: IngressRule): string => `host ${host || '*'}`;
const pathTexts = (rule: IngressRule): string[] => (rule.http?.paths ?? []).map(({ path = '/' }) => `${hostText(rule)}, path ${path}`);
