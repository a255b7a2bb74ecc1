import type { Attributes, Informer, ManifestFiles, ManifestSource, PluginServices } from 'kubenest/sdk';
import { type Hook, hooksOf, type Invocation, invocationOf } from './hook.ts';
import { isExempt } from './hook-matcher.ts';
import type { WebhookConfiguration } from './webhook-types.ts';

/** So many sorts of requests are remembered: resources and operations are few. */
const maxRemembered = 4_096;

/** Webhooks of files, and all of them: those of files come first. */
interface Hooks {
  readonly fixed: readonly Hook[];
  readonly all: readonly Hook[];
}

export interface HookSourceOptions {
  readonly plugin: 'MutatingAdmissionWebhook' | 'ValidatingAdmissionWebhook';
  readonly services: PluginServices;
  /** Configurations besides those of the API. */
  readonly files: ManifestFiles | undefined;
}

/**
 * The webhooks that are configured now. Which of them a sort of request concerns by its rules is found out once for each
 * change of the configurations, so that a cluster with hundreds of webhooks pays for those that match.
 */
export class HookSource {
  readonly #configurations: Informer<WebhookConfiguration>;
  readonly #fixed: ManifestSource<readonly WebhookConfiguration[]> | undefined;
  #hooks: Hooks | undefined;
  readonly #bySort = new Map<string, readonly Invocation[]>();

  /** Throws for files that cannot be taken. */
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

  /** In their order. The configuration of admission itself is beyond webhooks of the API, which nobody is to lock; those of files see it. */
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

/** Throws an Error for a webhook that is not reached by a URL. Upstream: plugin/webhook/manifest/loader. */
function checkManifest({ metadata, webhooks = [] }: WebhookConfiguration, file: string): void {
  for (const { name, clientConfig } of webhooks) {
    const webhook = `webhook ${JSON.stringify(name)} in ${JSON.stringify(metadata.name)} (file ${JSON.stringify(file)})`;
    if (clientConfig.service)
      throw new Error(`${webhook}: clientConfig.service is not supported for static manifests; use clientConfig.url instead`);
    if (!clientConfig.url) throw new Error(`${webhook}: clientConfig.url is required for static manifests`);
  }
}
