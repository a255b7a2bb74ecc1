import type { EgressSelector } from './egress-selector/egress-selector.ts';
import type { Endpoint } from './endpoint.ts';

/** Finds where and how a Service can be reached, for what the server itself calls by a service's name: webhooks, APIServices. */
export interface ServiceResolver {
  /** Throws an Error that says why it cannot be reached. */
  resolve(namespace: string, name: string, port: number): Endpoint;
  /** How connections are made, to services (`cluster`) and by URL (`controlplane`); undefined: straight. */
  readonly egress?: EgressSelector | undefined;
}

export const ServiceResolver = Symbol.for('kubenest.ServiceResolver');
