import type { Scheme } from '#apiserver/registry/scheme';
import { exceptionMatch, exceptionRules } from '../exception-rules.ts';
import { pathName } from '../webhook-plugins.ts';
import { type ServedPlugin, type WebhookEntry, webhookEntries } from './webhook-entries.ts';

/**
 * Returns the client configuration of a path of the webhook server. Upstream: api/admissionregistration/v1/types.go (WebhookClientConfig).
 */
export type ClientConfigOf = (path: string) => object;

export interface ConfigurationOptions {
  /** Name of both configurations. */
  readonly name: string;
  readonly clientConfig: ClientConfigOf;
  /** Namespaces whose requests do not reach the webhooks. */
  readonly excludedNamespaces: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** The webhook that checks exceptions. While no replica answers, exceptions can be written; a wrong one does not apply. */
const exceptionEntry: WebhookEntry = {
  name: `${pathName(exceptionRules)}.validate.kubenest.dev`,
  path: `/validate/${pathName(exceptionRules)}`,
  rules: [
    {
      apiGroups: exceptionMatch.groups,
      apiVersions: ['*'],
      operations: exceptionMatch.operations,
      resources: exceptionMatch.resources,
      scope: '*',
    },
  ],
  failurePolicy: 'Ignore',
  matchPolicy: 'Equivalent',
  sideEffects: 'NoneOnDryRun',
  timeoutSeconds: 5,
  admissionReviewVersions: ['v1'],
};

/** Returns the webhook configurations of plugins; none for mutations if no plugin has any. */
export function webhookConfigurations(plugins: readonly ServedPlugin[], scheme: Scheme, options: ConfigurationOptions): object[] {
  const { name, clientConfig, excludedNamespaces, labels } = options;
  return (['mutate', 'validate'] as const).flatMap((phase) => {
    const ofPlugins = webhookEntries(phase, plugins, scheme, excludedNamespaces);
    const entries = phase === 'validate' ? [...ofPlugins, exceptionEntry] : ofPlugins;
    if (entries.length === 0) return [];
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: phase === 'mutate' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration',
      metadata: { name, ...(labels && { labels }) },
      webhooks: entries.map(({ path, ...entry }: WebhookEntry) => ({ ...entry, clientConfig: clientConfig(path) })),
    };
  });
}
