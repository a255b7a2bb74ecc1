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
  applyJsonPatchSteps,
  type ChunkedForms,
  chunkedFormsOf,
  compareUtf8,
  decodeJsonPatchSteps,
  encodeRawJson,
  encodeRawJsonSteps,
  inSteps,
  JsonPatch,
  needsSteps,
  parseJson,
  parseJsonSteps,
  PluginReinvocation,
  replaceObject,
  semanticDeepEqualSteps,
  startSteps,
  type Steps,
} from '#sdk/internal';
import type { Invocation } from './hook.ts';
import { type Answer, reviewObjectsOf } from './review.ts';
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
    const patch = async (answer: Answer): Promise<boolean> => {
      const operations = await operationsOf(spec.name, answer);
      if (operations.length === 0) return false;
      mutated = await applyPatch(request, invocation, operations, answer.patchType);
      const value = { configuration, webhook: spec.name, patch: await startSteps(sortedSteps(operations)), patchType: 'JSONPatch' };
      request.addAnnotation(patchPrefix + place, await rawJsonOf(value, answer.patch.length), 'Request');
      return mutated;
    };
    const onFailOpen = (): void => request.addAnnotation(`failed-open.${mutationPrefix}${place}`, spec.name);
    try {
      return (
        (await this.#webhooks.caller.call(request, invocation, () => reviewObjectsOf(request, invocation.kind), patch, onFailOpen)) ?? false
      );
    } finally {
      request.addAnnotation(mutationPrefix + place, JSON.stringify({ configuration, webhook: spec.name, mutated }));
    }
  }
}

/** Parses the patch of a response; empty without a patch. Throws a CallError if it is invalid. */
async function operationsOf(webhook: string, { patch }: Answer): Promise<JsonPatch['operations']> {
  if (patch.length === 0) return [];
  try {
    const { value } = needsSteps(patch.length) ? await inSteps(parseJsonSteps(patch)) : parseJson(patch);
    return (await startSteps(decodeJsonPatchSteps(value, { isStrict: false, mostOperations: Infinity }))).operations;
  } catch (error) {
    throw new CallError(webhook, `received undecodable patch in webhook response: ${(error as Error).message}`, 503);
  }
}

/** Number of operations that are sorted between two yields. */
const operationsPerStep = 256;

/** Orders the members of each operation like Go's map encoding. Yields to the event loop. */
function* sortedSteps(operations: JsonPatch['operations']): Steps<object[]> {
  const sorted: object[] = [];
  for (const operation of operations) {
    if (sorted.length % operationsPerStep === 0) yield;
    sorted.push(Object.fromEntries(Object.entries(operation).sort(([a], [b]) => compareUtf8(a, b))));
  }
  return sorted;
}

/** Returns the JSON of an annotation, for a large patch in several turns of the event loop. */
async function rawJsonOf(value: object, bytes: number): Promise<string> {
  return needsSteps(bytes) ? Buffer.concat(await inSteps(encodeRawJsonSteps(value))).toString() : encodeRawJson(value);
}

/**
 * Applies a patch to the object in the webhook's version. Returns true if the object changed. Large objects take several turns of the event
 * loop.
 */
async function applyPatch(
  { forms: own, object }: Attributes,
  { hook, kind }: Invocation,
  operations: JsonPatch['operations'],
  patchType: string,
): Promise<boolean> {
  if (object === undefined) {
    throw newInternalError(
      `admission webhook ${quote(hook.spec.name)} attempted to modify the object, which is not supported for this operation`,
    );
  }
  if (patchType !== 'JSONPatch') throw new CallError(hook.spec.name, `unsupported patch type ${quote(patchType)}`, 400);
  const forms = chunkedFormsOf(own);
  const before = (await startSteps(parsedSteps(forms, object, kind))).value;
  let after: KubeObject;
  try {
    after = await startSteps(patchedSteps(forms, before, operations, kind));
  } catch (error) {
    throw error instanceof ConversionError ? error : newInternalError(error as Error);
  }
  const changed = !(await startSteps(isSameSteps(forms, before, after, kind)));
  replaceObject(object, forms.complete(after, kind));
  return changed;
}

function* parsedSteps(forms: ChunkedForms, object: KubeObject, kind: GroupVersionKind): Steps<ReturnType<typeof parseJson>> {
  return yield* parseJsonSteps(yield* forms.encodeSteps(object, kind));
}

function* patchedSteps(
  forms: ChunkedForms,
  before: unknown,
  operations: JsonPatch['operations'],
  kind: GroupVersionKind,
): Steps<KubeObject> {
  const patched = yield* applyJsonPatchSteps(before, new JsonPatch(operations, []), new WeakSet());
  return yield* forms.decodeSteps(patched, kind);
}

function* isSameSteps(forms: ChunkedForms, before: unknown, after: KubeObject, kind: GroupVersionKind): Steps<boolean> {
  return yield* semanticDeepEqualSteps(yield* forms.decodeSteps(before, kind), after);
}
