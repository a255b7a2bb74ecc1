import type { SharedInformer } from 'kubenest/sdk';
import type { Service } from 'kubenest/types/core_v1';
import { timeOf } from '../time.ts';
import type { Variables } from './cluster-sources.ts';

interface KnownVariables {
  /** Variables of all services of the namespace. */
  readonly variables: Variables;
  /** Creation time of the newest service. */
  readonly newest: number;
}

/**
 * Variables with the addresses of services. The containers of a namespace share them, since a namespace may have many services.
 * Upstream: kubernetes/pkg/kubelet/envvars.
 */
export class ServiceVariables implements Disposable {
  readonly #known = new Map<string, KnownVariables>();
  readonly #subscription: Disposable;

  constructor(private readonly services: SharedInformer<Service>) {
    const changed = ({ metadata }: Service): void => void this.#known.delete(metadata.namespace ?? '');
    this.#subscription = services.handle({ added: changed, updated: changed, deleted: changed });
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  /** Returns the variables of the services of a namespace that existed at a time, in milliseconds since the epoch. */
  ofNamespace(namespace: string, time: number): Variables {
    const known = this.#known.get(namespace) ?? this.#read(namespace);
    this.#known.set(namespace, known);
    if (known.newest <= time) return known.variables;
    return variablesOf(this.services.list(namespace).filter((service) => createdAt(service) <= time));
  }

  /** Returns the variables of the service of the API server. */
  ofApiServer(): Variables {
    const service = this.services.get('default', 'kubernetes');
    return service ? variablesOf([service]) : {};
  }

  #read(namespace: string): KnownVariables {
    const services = this.services.list(namespace);
    return { variables: variablesOf(services), newest: services.reduce((newest, one) => Math.max(newest, createdAt(one)), 0) };
  }
}

const createdAt = ({ metadata }: Service): number => timeOf(metadata.creationTimestamp);
const variableName = (name: string): string => name.replaceAll('-', '_').toUpperCase();

/** Returns the variables of services. Those without an address have none. */
export function variablesOf(services: readonly Service[]): Variables {
  return Object.fromEntries(services.flatMap(entriesOf));
}

function entriesOf({ metadata, spec = {} }: Service): [name: string, value: string][] {
  const { clusterIP = '', ports = [] } = spec;
  const [first] = ports;
  if (clusterIP === '' || clusterIP === 'None' || !first) return [];
  const prefix = variableName(metadata.name ?? '');
  const host = clusterIP.includes(':') ? `[${clusterIP}]` : clusterIP;
  const url = (port: number, protocol: string): string => `${protocol.toLowerCase()}://${host}:${port}`;
  const entries: [string, string][] = [
    [`${prefix}_SERVICE_HOST`, clusterIP],
    [`${prefix}_SERVICE_PORT`, String(first.port)],
    [`${prefix}_PORT`, url(first.port ?? 0, first.protocol ?? 'TCP')],
  ];
  for (const { name, port = 0, protocol = 'TCP' } of ports) {
    const link = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
    if (name) entries.push([`${prefix}_SERVICE_PORT_${variableName(name)}`, String(port)]);
    entries.push(
      [link, url(port, protocol)],
      [`${link}_PROTO`, protocol.toLowerCase()],
      [`${link}_PORT`, String(port)],
      [`${link}_ADDR`, clusterIP],
    );
  }
  return entries;
}
