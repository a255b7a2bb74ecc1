import type { Attributes, Informer, PluginServices } from 'kubenest/sdk';
import type { ManifestFiles, ManifestSource } from '#sdk/internal';
import { type Hook, hooksOf, type Invocation, invocationOf } from './hook.ts';
import { isExempt } from './hook-matcher.ts';
import type { WebhookConfiguration } from './webhook-types.ts';

/** Maximum number of cached request types (resource and operation). */
const maxRemembered = 4_096;

/** Webhooks of manifests, and all webhooks with those of manifests first. */
interface Hooks {
  readonly fixed: readonly Hook[];
  readonly all: readonly Hook[];
}

export interface HookSourceOptions {
  readonly plugin: 'MutatingAdmissionWebhook' | 'ValidatingAdmissionWebhook';
  readonly services: PluginServices;
  /** Manifests in addition to API objects. */
  readonly files: ManifestFiles | undefined;
}

/**
 * The currently configured webhooks. The rules are evaluated once for each request type after a change of the
 * configurations, so that requests in a cluster with hundreds of webhooks only pay for matching ones.
 */
export class HookSource {
  readonly #configurations: Informer<WebhookConfiguration>;
  readonly #fixed: ManifestSource<readonly WebhookConfiguration[]> | undefined;
  #hooks: Hooks | undefined;
  readonly #bySort = new Map<string, readonly Invocation[]>();

  /** Throws if a manifest is invalid. */
  constructor({ plugin, services: { informers, manifests, shutdownSignal }, files }: HookSourceOptions) {
    const kind = plugin.replace('AdmissionWebhook', 'WebhookConfiguration');
    this.#configurations = informers.for({ group: 'admissionregistration.k8s.io', resource: `${kind.toLowerCase()}s` });
    const build = (configurations: readonly WebhookConfiguration[]): readonly WebhookConfiguration[] => configurations;
    this.#fixed = files && manifests.follow(files, { plugin, what: 'webhook', kinds: [kind], check: checkManifest, build });
    const forget = (): void => {
      this.#hooks = undefined;
      this.#bySort.clear();
    };
    this.#fixed?.subscribe(forget);
    const subscription = this.#configurations.subscribe(forget);
    shutdownSignal.addEventListener('abort', () => subscription[Symbol.dispose](), { once: true });
  }

  /**
   * Returns the matching webhooks in order. For admission configuration only those of manifests apply, so that webhooks of
   * the API cannot block it.
   */
  invocationsFor(request: Attributes): readonly Invocation[] {
    this.#hooks ??= this.#collect();
    const hooks = isExempt(request) ? this.#hooks.fixed : this.#hooks.all;
    if (hooks.length === 0) return [];
    const { resource, kind, subresource, operation, namespace } = request;
    const key = `${resource.group}/${resource.version}/${resource.resource}/${subresource}/${kind.kind}/${operation}/${namespace === ''}`;
    let invocations = this.#bySort.get(key);
    if (!invocations) {
      invocations = hooks.flatMap((hook) => invocationOf(hook, request) ?? []);
      if (this.#bySort.size >= maxRemembered) this.#bySort.clear();
      this.#bySort.set(key, invocations);
    }
    return invocations;
  }

  #collect(): Hooks {
    const fixed = hooksOf(this.#fixed?.current ?? [], 0, 'manifest/');
    return { fixed, all: [...fixed, ...hooksOf(this.#configurations.list(), fixed.length)] };
  }
}

/** Throws an Error if a webhook does not use a URL. Upstream: plugin/webhook/manifest/loader. */
function checkManifest({ metadata, webhooks = [] }: WebhookConfiguration, file: string): void {
  for (const { name, clientConfig } of webhooks) {
    const webhook = `webhook ${JSON.stringify(name)} in ${JSON.stringify(metadata.name)} (file ${JSON.stringify(file)})`;
    if (clientConfig.service)
      throw new Error(`${webhook}: clientConfig.service is not supported for static manifests; use clientConfig.url instead`);
    if (!clientConfig.url) throw new Error(`${webhook}: clientConfig.url is required for static manifests`);
  }
}
