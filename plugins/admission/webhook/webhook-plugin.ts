import type { Attributes, Informer, KubeObject, PluginServices } from 'kubenest/sdk';
import type { Invocation } from './hook.ts';
import { isSelected } from './hook-matcher.ts';
import { HookSource, type HookSourceOptions } from './hook-source.ts';
import { ConditionMatcher } from './match-conditions.ts';
import type { WebhookAdmissionConfiguration } from './webhook-configuration.ts';
import { WebhookCaller } from './webhook-caller.ts';
import { WebhookClient } from './webhook-client.ts';
import { WebhookMetrics } from './webhook-metrics.ts';

/** Common part of mutating and validating webhooks. Upstream: plugin/webhook/generic/webhook.go. */
export class WebhookPlugin {
  readonly caller: WebhookCaller;
  readonly #source: HookSource;
  readonly #namespaces: Informer;
  readonly #conditions: ConditionMatcher;

  constructor(plugin: HookSourceOptions['plugin'], services: PluginServices, { credentials, files }: WebhookAdmissionConfiguration) {
    const type = plugin === 'MutatingAdmissionWebhook' ? 'admit' : 'validating';
    const { informers, metrics, logger, shutdownSignal } = services;
    const client = new WebhookClient(services.serviceResolver, credentials);
    shutdownSignal.addEventListener('abort', () => client[Symbol.dispose](), { once: true });
    this.caller = new WebhookCaller(type, client, new WebhookMetrics(metrics), logger);
    this.#source = new HookSource({ plugin, services, files });
    this.#conditions = new ConditionMatcher(type, services.authorizer, metrics, logger);
    this.#namespaces = informers.for({ group: '', resource: 'namespaces' });
  }

  /** Returns the webhooks whose rules match; selectors are evaluated later. */
  candidatesFor(request: Attributes): readonly Invocation[] {
    return this.#source.invocationsFor(request);
  }

  /** Resolves to true if a webhook is to be called. `object` is the current object. Rejects if that cannot be determined. */
  async isCalled(invocation: Invocation, request: Attributes, object: KubeObject | undefined): Promise<boolean> {
    return isSelected(invocation.hook, request, object, this.#namespaces) && (await this.#conditions.areMet(invocation, request));
  }
}
