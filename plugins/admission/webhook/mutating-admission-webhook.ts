import {
  AdmissionPlugin,
  type Attributes,
  Configuration,
  ConversionError,
  type GroupVersionKind,
  inject,
  PluginServices,
  type KubeObject,
  newInternalError,
  quote,
} from 'kubenest/sdk';
import {
  applyJsonPatch,
  compareUtf8,
  decodeJsonPatch,
  encodeRawJson,
  type JsonPatch,
  parseJson,
  PluginReinvocation,
  replaceObject,
  semanticDeepEqual,
} from '#sdk/internal';
import type { Invocation } from './hook.ts';
import type { Answer, ReviewObjects } from './review.ts';
import { WebhookAdmissionConfiguration } from './webhook-configuration.ts';
import { CallError } from './webhook-errors.ts';
import { WebhookPlugin } from './webhook-plugin.ts';

const mutationPrefix = 'mutation.webhook.admission.k8s.io/';
const patchPrefix = 'patch.webhook.admission.k8s.io/';

/** Calls the mutating webhooks sequentially and applies their patches. Upstream: plugin/webhook/mutating/dispatcher.go. */
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

  /** Resolves to true if the webhook changed the object. */
  async #call(request: Attributes, invocation: Invocation): Promise<boolean> {
    const { configuration, index, spec } = invocation.hook;
    const place = `round_${request.reinvocation.isReinvoke ? 1 : 0}_index_${index}`;
    let mutated = false;
    const patch = (answer: Answer): boolean => {
      const operations = operationsOf(spec.name, answer);
      if (operations.length === 0) return false;
      mutated = applyPatch(request, invocation, operations, answer.patchType);
      const value = { configuration, webhook: spec.name, patch: operations.map(sortedOperation), patchType: 'JSONPatch' };
      request.addAnnotation(patchPrefix + place, encodeRawJson(value), 'Request');
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

/** Returns the JSON of the objects in the version that a webhook expects. */
function textsOf({ forms, object, oldObject }: Attributes, kind: GroupVersionKind): ReviewObjects {
  return {
    object: object === undefined ? 'null' : forms.encode(object, kind),
    oldObject: oldObject === undefined ? 'null' : forms.encode(oldObject, kind),
  };
}

/** Parses the patch of a response; empty without a patch. Throws a CallError if it is invalid. */
function operationsOf(webhook: string, { patch }: Answer): JsonPatch['operations'] {
  if (patch.length === 0) return [];
  try {
    return decodeJsonPatch(parseJson(patch).value, false).operations;
  } catch (error) {
    throw new CallError(webhook, `received undecodable patch in webhook response: ${(error as Error).message}`, 503);
  }
}

/** Orders the members of an operation like Go's map encoding. */
function sortedOperation(operation: JsonPatch['operations'][number]): object {
  return Object.fromEntries(Object.entries(operation).sort(([a], [b]) => compareUtf8(a, b)));
}

/** Applies a patch to the object in the webhook's version. Returns true if the object changed. */
function applyPatch(
  { forms, object }: Attributes,
  { hook, kind }: Invocation,
  operations: JsonPatch['operations'],
  patchType: string,
): boolean {
  if (object === undefined) {
    throw newInternalError(
      `admission webhook ${quote(hook.spec.name)} attempted to modify the object, which is not supported for this operation`,
    );
  }
  if (patchType !== 'JSONPatch') throw new CallError(hook.spec.name, `unsupported patch type ${quote(patchType)}`, 400);
  const before = parseJson(Buffer.from(forms.encode(object, kind))).value;
  let after: KubeObject;
  try {
    after = forms.decode(applyJsonPatch(before, operations), kind);
  } catch (error) {
    throw error instanceof ConversionError ? error : newInternalError(error as Error);
  }
  const changed = !semanticDeepEqual(forms.decode(before, kind), after);
  replaceObject(object, forms.complete(after, kind));
  return changed;
}
