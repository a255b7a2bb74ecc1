/** Options of `kubenest webhook`. */
export interface WebhookOptions {
  readonly config: string;
  readonly kubeconfig?: string;
  readonly bindAddress: string;
  readonly port: number;
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  /** Name of the Service, the Secret of certificates and the webhook configurations. */
  readonly name: string;
  readonly namespace?: string;
  /** Number of the last reviews whose traces are kept. */
  readonly requestTraces: number;
  /** Seconds. */
  readonly shutdownDelay: number;
}

export const defaultName = 'kubenest-webhook';
export const defaultNamespace = 'kubenest';

/** Returns the DNS names by which API servers and clients in the cluster reach the Service. */
export function serviceHosts(name: string, namespace: string): string[] {
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`, `${name}.${namespace}`];
}
