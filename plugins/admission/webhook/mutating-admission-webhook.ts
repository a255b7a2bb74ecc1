import {
  AdmissionPlugin,
  applyJsonPatch,
  type Attributes,
  Configuration,
  type GroupVersionKind,
  inject,
  PluginServices,
  type KubeObject,
  newInternalError,
  PluginReinvocation,
  replaceObject,
  semanticDeepEqual,
} from 'kubenest/sdk';
import type { Invocation } from './hook.ts';
import type { Answer, ReviewObjects } from './review.ts';
import { WebhookAdmissionConfiguration } from './webhook-configuration.ts';
import { CallError } from './webhook-errors.ts';
import { WebhookPlugin } from './webhook-plugin.ts';

const mutationPrefix = 'mutation.webhook.admission.k8s.io/';
const patchPrefix = 'patch.webhook.admission.k8s.io/';

/** Asks the mutating webhooks, one after the other, and applies their patches. Upstream: plugin/webhook/mutating/dispatcher.go. */
@AdmissionPlugin({
  name: 'MutatingAdmissionWebhook',
  configuration: WebhookAdmissionConfiguration,
  match: [{ groups: ['*'], resources: ['*'], subresources: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] }],
})
export class MutatingAdmissionWebhook {
  readonly #webhooks: WebhookPlugin;

  constructor(@inject(PluginServices) services: PluginServices, @inject(Configuration) configuration: WebhookAdmissionConfiguration) {
    this.#webhooks = new WebhookPlugin('MutatingAdmissionWebhook', services, configuration);
  }

  admit(request: Attributes): void | Promise<void> {
    const candidates = this.#webhooks.candidatesFor(request);
    if (candidates.length > 0) return this.#callEach(request, candidates);
  }

  async #callEach(request: Attributes, candidates: readonly Invocation[]): Promise<void> {
    const { reinvocation } = request;
    const state = reinvocation.stateOf(this, () => new PluginReinvocation());
    if (reinvocation.isReinvoke && state.hasChangedSince(request.object)) state.requirePrevious();
    try {
      for (const invocation of candidates) {
        if (!(await this.#webhooks.isCalled(invocation, request, request.object))) continue;
        const { uid, spec } = invocation.hook;
        if (reinvocation.isReinvoke && !state.isRequired(uid)) continue;
        const changed = await this.#call(request, invocation);
        if (changed) {
          state.requirePrevious();
          reinvocation.isRequired = true;
        }
        if (spec.reinvocationPolicy === 'IfNeeded') state.addInvoked(uid);
      }
    } finally {
      state.remember(request.object);
    }
  }

  /** Whether the webhook changed the object. */
  async #call(request: Attributes, invocation: Invocation): Promise<boolean> {
    const { configuration, index, spec } = invocation.hook;
    const place = `round_${request.reinvocation.isReinvoke ? 1 : 0}_index_${index}`;
    let mutated = false;
    const patch = (answer: Answer): boolean => {
      if (answer.patch === undefined) return false;
      if (answer.patchType !== 'JSONPatch')
        throw new CallError(spec.name, `unsupported patch type ${JSON.stringify(answer.patchType)}`, 400);
      if (!Array.isArray(answer.patch))
        throw new CallError(spec.name, 'received undecodable patch in webhook response: it is no list of operations', 503);
      if (answer.patch.length === 0) return false;
      mutated = applyPatch(request, invocation, answer.patch);
      const value = { configuration, webhook: spec.name, patch: answer.patch, patchType: 'JSONPatch' };
      request.addAnnotation(patchPrefix + place, JSON.stringify(value), 'Request');
      return mutated;
    };
    const onFailOpen = (): void => request.addAnnotation(`failed-open.${mutationPrefix}${place}`, spec.name);
    try {
      return (await this.#webhooks.caller.call(request, invocation, () => textsOf(request, invocation.kind), patch, onFailOpen)) ?? false;
    } finally {
      request.addAnnotation(mutationPrefix + place, JSON.stringify({ configuration, webhook: spec.name, mutated }));
    }
  }
}

/** The JSON texts that a webhook is shown. */
function textsOf({ forms, object, oldObject }: Attributes, kind: GroupVersionKind): ReviewObjects {
  return {
    object: object === undefined ? 'null' : forms.encode(object, kind),
    oldObject: oldObject === undefined ? 'null' : forms.encode(oldObject, kind),
  };
}

/** Applies a patch to the object in the version that the webhook was shown. Returns whether that changed anything. */
function applyPatch({ forms, object }: Attributes, { hook, kind }: Invocation, operations: readonly unknown[]): boolean {
  if (object === undefined) {
    const name = JSON.stringify(hook.spec.name);
    throw newInternalError(`admission webhook ${name} attempted to modify the object, which is not supported for this operation`);
  }
  const before = JSON.parse(forms.encode(object, kind)) as unknown;
  let after: KubeObject;
  try {
    after = forms.decode(applyJsonPatch(before, operations), kind);
  } catch (error) {
    throw newInternalError(error as Error);
  }
  const changed = !semanticDeepEqual(forms.decode(before, kind), after);
  replaceObject(object, forms.complete(after, kind));
  return changed;
}
