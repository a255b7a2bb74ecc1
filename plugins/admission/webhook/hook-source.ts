import type { Attributes, Informer, ShutdownSignal } from 'kubenest/sdk';
import { type Hook, hooksOf, type Invocation, invocationOf } from './hook.ts';
import type { WebhookConfiguration } from './webhook-types.ts';

/** So many sorts of requests are remembered: resources and operations are few. */
const maxRemembered = 4_096;

/**
 * The webhooks that are configured now. Which of them a sort of request concerns by its rules is found out once for each
 * change of the configurations, so that a cluster with hundreds of webhooks pays for those that match.
 */
export class HookSource {
  #hooks: readonly Hook[] | undefined;
  readonly #bySort = new Map<string, readonly Invocation[]>();

  constructor(
    readonly configurations: Informer<WebhookConfiguration>,
    shutdown: ShutdownSignal,
  ) {
    const subscription = configurations.subscribe(() => {
      this.#hooks = undefined;
      this.#bySort.clear();
    });
    shutdown.addEventListener('abort', () => subscription[Symbol.dispose](), { once: true });
  }

  /** In their order. */
  invocationsFor(request: Attributes): readonly Invocation[] {
    this.#hooks ??= hooksOf(this.configurations.list());
    if (this.#hooks.length === 0) return [];
    const { resource, kind, subresource, operation, namespace } = request;
    const key = `${resource.group}/${resource.version}/${resource.resource}/${subresource}/${kind.kind}/${operation}/${namespace === ''}`;
    let invocations = this.#bySort.get(key);
    if (!invocations) {
      invocations = this.#hooks.flatMap((hook) => invocationOf(hook, request) ?? []);
      if (this.#bySort.size >= maxRemembered) this.#bySort.clear();
      this.#bySort.set(key, invocations);
    }
    return invocations;
  }
}
