import type { Scheme } from '#apiserver/registry/scheme';
import { type ServedPlugin, type WebhookEntry, webhookEntries } from './webhook-entries.ts';

/** Returns the client configuration of a path of the webhook server. Upstream: api/admissionregistration/v1/types.go (WebhookClientConfig). */
export type ClientConfigOf = (path: string) => object;

export interface ConfigurationOptions {
  /** Name of both configurations. */
  readonly name: string;
  readonly clientConfig: ClientConfigOf;
  /** Namespaces whose requests do not reach the webhooks. */
  readonly excludedNamespaces: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** Returns the webhook configurations of plugins; none for a phase that no plugin has. */
export function webhookConfigurations(plugins: readonly ServedPlugin[], scheme: Scheme, options: ConfigurationOptions): object[] {
  const { name, clientConfig, excludedNamespaces, labels } = options;
  return (['mutate', 'validate'] as const).flatMap((phase) => {
    const entries = webhookEntries(phase, plugins, scheme, excludedNamespaces);
    if (entries.length === 0) return [];
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: phase === 'mutate' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration',
      metadata: { name, ...(labels && { labels }) },
      webhooks: entries.map(({ path, ...entry }: WebhookEntry) => ({ ...entry, clientConfig: clientConfig(path) })),
    };
  });
}
