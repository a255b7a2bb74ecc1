/** Runs MutatingAdmissionPolicies. Upstream: apiserver/pkg/admission/plugin/policy/mutating/dispatcher.go. */
import { StatusError } from '#apimachinery/api/errors';
import type { StatusCause } from '#apimachinery/meta/types';
import type { KubeObject } from '#apimachinery/meta/types';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { hasTime, turnOfOthers } from '#apimachinery/runtime/steps';
import type { Attributes } from '#apiserver/admission/attributes';
import { forbidden } from '#apiserver/admission/forbidden';
import type { ManifestFiles } from '#apiserver/admission/manifest/manifest-files';
import { PluginReinvocation } from '#apiserver/admission/plugin-reinvocation';
import { replaceObject } from '#apiserver/admission/replace-object';
import { AuthorizerValue } from '#apiserver/cel/library/authz';
import { settled } from '#apimachinery/runtime/suspended';
import type { PolicyServices } from './policy-services.ts';
import type { Informer } from '#apiserver/registry/informers';
import { ConfigurationFailure, type Invocation, invocationsOf, namespaceObjectOf, visibleObject } from './invocations.ts';
import { MutatingPolicy, MutationError } from './mutating-policy.ts';
import { PolicyMetrics } from './policy-metrics.ts';
import { type PolicyCandidate, PolicySource } from './policy-source.ts';
import type { MutatingPolicySpec } from './policy-types.ts';

type MutatingInvocation = Invocation<MutatingPolicySpec, MutatingPolicy>;

interface Failure {
  readonly message: string;
  readonly reason?: string;
}

export class MutatingPolicies {
  readonly #source: PolicySource<MutatingPolicySpec, MutatingPolicy>;
  readonly metrics: PolicyMetrics;
  readonly #namespaces: Informer;

  /** `files` contains policies in addition to those of the API. Throws for invalid files. */
  constructor(
    readonly services: PolicyServices,
    files: ManifestFiles | undefined,
  ) {
    this.#source = new PolicySource({ kind: 'MutatingAdmissionPolicy', compile: (spec) => MutatingPolicy.compile(spec), services, files });
    this.metrics = new PolicyMetrics(services.metrics, 'mutating');
    this.#namespaces = services.informers.for({ group: '', resource: 'namespaces' });
  }

  /** Mutates the object. Rejects with the StatusError of a denial. */
  admit(request: Attributes): void | Promise<void> {
    const candidates = settled(() => this.#source.candidatesFor(request));
    if (candidates instanceof Promise) return candidates.then((found) => this.#dispatch(request, found));
    if (candidates.length > 0) return this.#dispatch(request, candidates);
  }

  async #dispatch(request: Attributes, candidates: readonly PolicyCandidate<MutatingPolicySpec, MutatingPolicy>[]): Promise<void> {
    const sources = { namespaces: this.#namespaces, kinds: this.services.servedKinds };
    const found = await settled(() => [...invocationsOf(candidates, request, sources)]);
    const failures: Failure[] = [];
    const invocations: MutatingInvocation[] = [];
    for (const one of found) {
      if (one instanceof ConfigurationFailure) failures.push({ message: messageOf(one) });
      else invocations.push(one);
    }
    if (invocations.length > 0) failures.push(...(await new MutationRound(this, request).run(invocations)));
    if (failures.length > 0) throw denial(request, failures);
  }

  authorizerFor({ user }: Attributes): AuthorizerValue {
    return new AuthorizerValue(user, this.services.authorizer);
  }

  namespaceObjectOf(request: Attributes): KubeObject | undefined {
    return namespaceObjectOf(request, this.#namespaces);
  }
}

/** One run of all policies that match a request. */
class MutationRound {
  readonly #state: PluginReinvocation;
  readonly #authorizer: AuthorizerValue;
  readonly #namespaceObject: KubeObject | undefined;
  readonly #metrics: PolicyMetrics;
  readonly #failures: Failure[] = [];
  /** True if a mutation replaced the object, even by an equal one. */
  #isDirty = false;

  constructor(
    policies: MutatingPolicies,
    readonly request: Attributes,
  ) {
    this.#state = request.reinvocation.stateOf(policies, () => new PluginReinvocation());
    this.#authorizer = policies.authorizerFor(request);
    this.#metrics = policies.metrics;
    this.#namespaceObject = policies.namespaceObjectOf(request);
  }

  async run(invocations: readonly MutatingInvocation[]): Promise<readonly Failure[]> {
    const { request } = this;
    if (request.reinvocation.isReinvoke && this.#state.hasChangedSince(request.object)) this.#state.requirePrevious();
    try {
      for (const invocation of invocations) await this.#invoke(invocation);
      if (this.#isDirty) this.#requireReinvocation();
    } finally {
      this.#state.remember(request.object);
    }
    return this.#failures;
  }

  async #invoke(invocation: MutatingInvocation): Promise<void> {
    const { policy, compiled, binding, params } = invocation;
    const { reinvocation } = this.request;
    const conditions = await settled(() => compiled.match(this.#inputOf(invocation)));
    this.#metrics.conditions.observe(policy.metadata.name ?? '', this.request.operation, conditions);
    if (conditions.match instanceof Error) return this.#fail(invocation, conditions.match);
    if (!conditions.match) return;
    const key = JSON.stringify([policy.metadata.name, binding.metadata.name, params?.metadata.namespace, params?.metadata.name]);
    if (reinvocation.isReinvoke && !this.#state.isRequired(key)) return;
    if (this.request.object && (await this.#mutate(invocation))) this.#requireReinvocation();
    if (policy.spec?.reinvocationPolicy === 'IfNeeded') this.#state.addInvoked(key);
  }

  #requireReinvocation(): void {
    this.#state.requirePrevious();
    this.request.reinvocation.isRequired = true;
  }

  /** Applies the mutations of a policy. Resolves to true if the object changed. */
  async #mutate(invocation: MutatingInvocation): Promise<boolean> {
    const { request } = this;
    const { policy, binding } = invocation;
    let changed = false;
    for (const mutate of invocation.compiled.mutators) {
      if (!hasTime()) await turnOfOthers();
      const began = performance.now();
      const observe = (message?: string): void => {
        const check = { seconds: (performance.now() - began) / 1_000, ...(message !== undefined && { message }) };
        this.#metrics.observe(policy, binding, check);
      };
      try {
        const next = await settled(() => mutate(this.#inputOf(invocation)));
        const completed = request.forms.complete(next, invocation.matched.kind);
        changed ||= !semanticDeepEqual(request.object, completed);
        replaceObject(request.object, completed);
        this.#isDirty = true;
        observe();
      } catch (error) {
        observe((error as Error).message);
        if (!(error instanceof MutationError)) throw error;
        this.#fail(invocation, error);
      }
    }
    const name = `${policy.metadata.name} with binding ${binding.metadata.name}`;
    request.trace?.note({ kind: 'policy', name, verdict: changed ? 'changed the object' : 'changed nothing' });
    return changed;
  }

  #inputOf({ matched: { kind, resource }, params }: MutatingInvocation) {
    const { request } = this;
    return {
      request,
      object: visibleObject(request, request.object, kind),
      oldObject: visibleObject(request, request.oldObject, kind),
      kind,
      resource,
      params,
      namespaceObject: this.#namespaceObject,
      authorizer: this.#authorizer,
    };
  }

  #fail({ policy, binding }: MutatingInvocation, { message }: Error): void {
    if (policy.spec?.failurePolicy !== 'Ignore')
      this.#failures.push({ message: messageOf({ policy, binding, message }), reason: 'Invalid' });
  }
}

function messageOf({ policy, binding, message }: Pick<ConfigurationFailure, 'policy' | 'binding' | 'message'>): string {
  const by = binding
    ? `policy '${policy.metadata.name}' with binding '${binding.metadata.name}'`
    : `policy ${JSON.stringify(policy.metadata.name)}`;
  return `${by} denied request: ${message}`;
}

function denial(request: Attributes, failures: readonly Failure[]): StatusError {
  const { status } = forbidden(request, 'admission request denied by policy');
  const first = failures[0]!;
  const causes: StatusCause[] = failures.map(({ message }) => ({ message }));
  const { reason = status.reason } = first;
  return new StatusError({ ...status, ...(reason && { reason }), message: first.message, details: { ...status.details, causes } });
}
