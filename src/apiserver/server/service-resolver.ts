/** Where a connection goes. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Finds where a Service can be reached, for what the server itself calls by a service's name: webhooks, APIServices. */
export interface ServiceResolver {
  /** Throws an Error that says why it cannot be reached. */
  resolve(namespace: string, name: string, port: number): Endpoint;
}

export const ServiceResolver = Symbol.for('kubenest.ServiceResolver');
