import type { EgressSelector } from './egress-selector/egress-selector.ts';
import type { Endpoint } from './endpoint.ts';

/** Resolves Services that the server calls by name, such as webhooks and APIServices. */
export interface ServiceResolver {
  /** Returns the endpoint of a Service port. Throws an Error that states why the Service is unavailable. */
  resolve(namespace: string, name: string, port: number): Endpoint;
  /** Dialers of connections to services (`cluster`) and to URLs (`controlplane`); undefined: connect directly. */
  readonly egress?: EgressSelector | undefined;
}

export const ServiceResolver = Symbol.for('kubenest.ServiceResolver');
