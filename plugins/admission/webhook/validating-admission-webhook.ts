import { AdmissionPlugin, type Attributes, Configuration, type GroupVersionKind, inject, PluginServices } from 'kubenest/sdk';
import type { Invocation } from './hook.ts';
import type { ReviewObjects } from './review.ts';
import { WebhookAdmissionConfiguration } from './webhook-configuration.ts';
import { WebhookPlugin } from './webhook-plugin.ts';

const failedOpenPrefix = 'failed-open.validating.webhook.admission.k8s.io/';

/** Calls the validating webhooks in parallel. Upstream: plugin/webhook/validating/dispatcher.go. */
@AdmissionPlugin({
  name: 'ValidatingAdmissionWebhook',
  configuration: WebhookAdmissionConfiguration,
  match: [{ groups: ['*'], resources: ['*'], subresources: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] }],
})
export class ValidatingAdmissionWebhook {
  readonly #webhooks: WebhookPlugin;

  constructor(@inject(PluginServices) services: PluginServices, @inject(Configuration) configuration: WebhookAdmissionConfiguration) {
    this.#webhooks = new WebhookPlugin('ValidatingAdmissionWebhook', services, configuration);
  }

  validate(request: Attributes): void | Promise<void> {
    const candidates = this.#webhooks.candidatesFor(request);
    if (candidates.length > 0) return this.#callAll(request, candidates);
  }

  /** Calls all selected webhooks and waits for them; rejects with the first failure. */
  async #callAll(request: Attributes, candidates: readonly Invocation[]): Promise<void> {
    const invocations: Invocation[] = [];
    for (const candidate of candidates) if (await this.#webhooks.isCalled(candidate, request, request.object)) invocations.push(candidate);
    const objectsFor = encodedOnce(request);
    const errors: unknown[] = [];
    await Promise.all(
      invocations.map(async (invocation, index) => {
        const onFailOpen = (): void => request.addAnnotation(`${failedOpenPrefix}round_0_index_${index}`, invocation.hook.spec.name);
        try {
          await this.#webhooks.caller.call(
            request,
            invocation,
            () => objectsFor(invocation.kind),
            () => {},
            onFailOpen,
          );
        } catch (error) {
          errors.push(error);
        }
      }),
    );
    if (errors.length > 0) throw errors[0];
  }
}

/** Returns an encoder that encodes a request's objects once for each version. */
function encodedOnce({ forms, object, oldObject }: Attributes): (kind: GroupVersionKind) => ReviewObjects {
  const texts = new Map<string, ReviewObjects>();
  return (kind) => {
    const key = `${kind.group}/${kind.version}`;
    let objects = texts.get(key);
    if (!objects) {
      objects = {
        object: object === undefined ? 'null' : forms.encode(object, kind),
        oldObject: oldObject === undefined ? 'null' : forms.encode(oldObject, kind),
      };
      texts.set(key, objects);
    }
    return objects;
  };
}
