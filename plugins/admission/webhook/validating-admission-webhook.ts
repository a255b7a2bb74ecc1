import { AdmissionPlugin, type Attributes, Configuration, type GroupVersionKind, inject, PluginServices } from 'kubenest/sdk';
import { statusOf, type Verdict, type VerdictRecorder } from '#sdk/internal';
import { hasNoSideEffects, type Invocation } from './hook.ts';
import { type ReviewObjects, reviewObjectsOf } from './review.ts';
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
    if (candidates.length === 0) return;
    return request.verdicts ? this.#recordAll(request, request.verdicts, candidates) : this.#callAll(request, candidates);
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

  /** Records a verdict of each webhook that applies to a stored object. */
  async #recordAll(request: Attributes, verdicts: VerdictRecorder, candidates: readonly Invocation[]): Promise<void> {
    const objectsFor = encodedOnce(request);
    const asked = candidates.filter((invocation) => !verdicts.isKnown(policyOf(invocation)));
    const all = await Promise.all(asked.map((invocation) => this.#verdictOf(request, invocation, () => objectsFor(invocation.kind))));
    for (const verdict of all) if (verdict) verdicts.record(verdict);
  }

  /** Returns the verdict of a webhook, which is not called if a dry run of it may have side effects. */
  async #verdictOf(request: Attributes, invocation: Invocation, objects: () => Promise<ReviewObjects>): Promise<Verdict | undefined> {
    const policy = policyOf(invocation);
    const { spec } = invocation.hook;
    const warnings: string[] = [];
    const own: Attributes = Object.create(request, { addWarning: { value: (text: string) => warnings.push(text) } });
    const failed = (error: unknown): Verdict => ({ policy, result: 'error', message: (error as Error).message });
    try {
      if (!(await this.#webhooks.isCalled(invocation, request, request.object))) return undefined;
    } catch (error) {
      return failed(error);
    }
    if (!hasNoSideEffects(spec)) return { policy, result: 'skip', message: `not called, because its sideEffects are ${spec.sideEffects}` };
    let failure: Error | undefined;
    const onFailOpen = (error: Error): void => {
      failure = error;
    };
    try {
      await this.#webhooks.caller.call(own, invocation, objects, () => {}, onFailOpen);
    } catch (error) {
      if ((statusOf(error)?.code ?? 500) >= 500) return failed(error);
      return { policy, result: 'fail', message: (error as Error).message };
    }
    if (failure) return failed(failure);
    return warnings.length > 0 ? { policy, result: 'warn', message: warnings.join('; ') } : { policy, result: 'pass' };
  }
}

/** Returns the policy of a webhook in the verdicts of a scan. */
function policyOf({ hook }: Invocation): string {
  return `${hook.configuration}/${hook.spec.name}`;
}

/** Returns an encoder that encodes a request's objects once for each version. */
function encodedOnce(request: Attributes): (kind: GroupVersionKind) => Promise<ReviewObjects> {
  const texts = new Map<string, Promise<ReviewObjects>>();
  return (kind) => {
    const key = `${kind.group}/${kind.version}`;
    let objects = texts.get(key);
    if (!objects) {
      objects = reviewObjectsOf(request, kind);
      texts.set(key, objects);
    }
    return objects;
  };
}
