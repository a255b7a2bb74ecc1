/** Runs ValidatingAdmissionPolicies. Upstream: apiserver/pkg/admission/plugin/policy/validating/dispatcher.go. */
import { StatusError } from '#apimachinery/api/errors';
import { encodeRawJson } from '#apimachinery/runtime/json/json';
import type { Attributes } from '#apiserver/admission/attributes';
import { EvaluationProgress } from '#apiserver/admission/cel/evaluation';
import { forbidden } from '#apiserver/admission/forbidden';
import type { ManifestFiles } from '#apiserver/admission/manifest/manifest-files';
import type { VerdictRecorder, VerdictResult } from '#apiserver/admission/scan/verdict';
import { AuthorizerValue } from '#apiserver/cel/library/authz';
import { settled } from '#apimachinery/runtime/suspended';
import type { PolicyServices } from './policy-services.ts';
import type { Informer } from '#apiserver/registry/informers';
import { ConfigurationFailure, type Invocation, invocationsOf, namespaceObjectOf, VisibleObjects } from './invocations.ts';
import { type PolicyCandidate, PolicySource } from './policy-source.ts';
import type { Policy, PolicyBinding, ValidatingPolicySpec } from './policy-types.ts';
import { type EnforcementAction, PolicyMetrics } from './policy-metrics.ts';
import { type PublishedAnnotation, type ValidateResult, ValidatingPolicy } from './validating-policy.ts';

type Candidate = PolicyCandidate<ValidatingPolicySpec, ValidatingPolicy>;
type Evaluated = Invocation<ValidatingPolicySpec, ValidatingPolicy> & { readonly result: ValidateResult };

interface Denial {
  readonly policy: Policy;
  readonly binding: PolicyBinding | undefined;
  readonly message: string;
  readonly reason?: string;
}

const failureAnnotation = 'validation.policy.admission.k8s.io/validation_failure';
const enforcements: Readonly<Record<string, EnforcementAction>> = { Deny: 'deny', Audit: 'audit', Warn: 'warn' };
const maxAnnotationBytes = 10 * 1024;
const codes: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413, Invalid: 422 };

export class ValidatingPolicies {
  readonly #source: PolicySource<ValidatingPolicySpec, ValidatingPolicy>;
  readonly #namespaces: Informer;
  readonly #metrics: PolicyMetrics;

  /** `files` contains policies in addition to those of the API. Throws for invalid files. */
  constructor(
    readonly services: PolicyServices,
    files: ManifestFiles | undefined,
  ) {
    this.#source = new PolicySource({
      kind: 'ValidatingAdmissionPolicy',
      compile: (spec) => ValidatingPolicy.compile(spec),
      services,
      files,
    });
    this.#metrics = new PolicyMetrics(services.metrics, 'validating');
    this.#namespaces = services.informers.for({ group: '', resource: 'namespaces' });
  }

  /** Validates the object. Throws, or rejects with, the StatusError of a denial. */
  validate(request: Attributes): void | Promise<void> {
    const candidates = settled(() => this.#source.candidatesFor(request));
    return candidates instanceof Promise
      ? candidates.then((found) => this.#validateBy(found, request))
      : this.#validateBy(candidates, request);
  }

  #validateBy(candidates: readonly Candidate[], request: Attributes): void | Promise<void> {
    if (candidates.length === 0) return;
    const authorizer = new AuthorizerValue(request.user, this.services.authorizer);
    const progress = candidates.some(({ compiled }) => compiled.isLarge) ? new EvaluationProgress() : undefined;
    const results = settled(() => {
      progress?.begin();
      return this.#evaluate(request, candidates, authorizer, progress);
    });
    return results instanceof Promise
      ? results.then((found) => enforce(request, found, this.#metrics))
      : enforce(request, results, this.#metrics);
  }

  /** Evaluates the policies without side effects. Throws Suspended. */
  #evaluate(
    request: Attributes,
    candidates: readonly Candidate[],
    authorizer: AuthorizerValue,
    progress: EvaluationProgress | undefined,
  ): (Evaluated | ConfigurationFailure)[] {
    const results: (Evaluated | ConfigurationFailure)[] = [];
    const objects = new VisibleObjects(request);
    const namespaces = this.#namespaces;
    for (const found of invocationsOf(candidates, request, { namespaces, kinds: this.services.servedKinds })) {
      if (found instanceof ConfigurationFailure) {
        results.push(found);
        continue;
      }
      const { compiled, params, matched } = found;
      const namespaceObject = namespaceObjectOf(request, namespaces);
      const { kind, resource } = matched;
      const input = { request, ...objects.in(kind), kind, resource, params, namespaceObject, authorizer, progress };
      results.push({ ...found, result: compiled.validate(input) });
    }
    return results;
  }
}

/** Applies the validation actions of the bindings: Warn, Audit and Deny. In a scan, only records the verdicts. */
function enforce(request: Attributes, results: readonly (Evaluated | ConfigurationFailure)[], metrics: PolicyMetrics): void {
  if (request.verdicts) return record(request.verdicts, results);
  const denials: Denial[] = [];
  for (const found of results) {
    if (found instanceof ConfigurationFailure) denials.push(found);
    else denials.push(...act(request, found, metrics));
  }
  publish(request, results);
  const first = denials[0];
  if (first) throw denial(request, first);
}

/** Records one verdict for each evaluation whose match conditions hold, and one for each validation that does not hold. */
function record(verdicts: VerdictRecorder, results: readonly (Evaluated | ConfigurationFailure)[]): void {
  for (const found of results) {
    const { metadata } = found.policy;
    const { name: rule } = found.binding?.metadata ?? {};
    const add = (result: VerdictResult, message?: string): void =>
      verdicts.record({ policy: metadata.name ?? '', ...(rule !== undefined && { rule }), result, ...(message && { message }) });
    if (found instanceof ConfigurationFailure) {
      add('error', found.message);
      continue;
    }
    const { decisions, annotations } = found.result;
    const actions = found.binding.spec?.validationActions ?? [];
    const unmet = decisions.filter(({ admitted, failed }) => !admitted || failed);
    for (const { message, failed } of unmet) add(failed ? 'error' : actions.includes('Deny') ? 'fail' : 'warn', message);
    for (const annotation of annotations) if ('error' in annotation) add('error', annotation.error);
    if (unmet.length === 0 && decisions.length > 0) add('pass');
  }
}

function act(request: Attributes, { policy, binding, result }: Evaluated, metrics: PolicyMetrics): Denial[] {
  metrics.conditions.observe(policy.metadata.name ?? '', request.operation, result.conditions);
  const denials: Denial[] = [];
  const actions = binding.spec?.validationActions ?? [];
  const name = `${policy.metadata.name} with binding ${binding.metadata.name}`;
  result.decisions.forEach((decision, expressionIndex) => {
    const { admitted, message, reason, failed, parts = [] } = decision;
    request.trace?.note({
      kind: 'policy',
      name,
      verdict: admitted ? 'holds' : `does not hold (${actions.join(', ')})`,
      ...(!admitted && { reason: message, details: Object.fromEntries(parts.map(({ expression, value }) => [expression, value])) }),
    });
    if (admitted && failed) metrics.observe(policy, binding, decision, 'allow');
    if (admitted) return;
    for (const action of actions) {
      const enforced = Object.hasOwn(enforcements, action) ? enforcements[action] : undefined;
      if (enforced) metrics.observe(policy, binding, decision, enforced);
      if (action === 'Deny') denials.push({ policy, binding, message, reason });
      if (action === 'Audit') {
        const failure = {
          message,
          policy: policy.metadata.name,
          binding: binding.metadata.name,
          expressionIndex,
          validationActions: actions,
        };
        request.addAnnotation(failureAnnotation, encodeRawJson([failure]));
      }
      if (action === 'Warn')
        request.addWarning(
          `Validation failed for ValidatingAdmissionPolicy '${policy.metadata.name}' with binding '${binding.metadata.name}': ${message}`,
        );
    }
  });
  for (const annotation of result.annotations) {
    if (!('error' in annotation)) continue;
    const { error: message, seconds } = annotation;
    metrics.observe(policy, binding, { message, seconds }, 'deny');
    denials.push({ policy, binding, message });
  }
  return denials;
}

/** Publishes the audit annotations of each policy, merged over its bindings. */
function publish(request: Attributes, results: readonly (Evaluated | ConfigurationFailure)[]): void {
  const values = new Map<string, Set<string>>();
  for (const found of results) {
    if (found instanceof ConfigurationFailure) continue;
    for (const annotation of found.result.annotations) add(values, found.policy, annotation);
  }
  for (const [key, texts] of values) request.addAnnotation(key, [...texts].join(', '));
}

function add(values: Map<string, Set<string>>, { metadata }: Policy, annotation: PublishedAnnotation): void {
  if ('error' in annotation) return;
  const key = `${metadata.name}/${annotation.key}`;
  const texts = values.get(key) ?? new Set();
  const bytes = Buffer.from(annotation.value);
  texts.add(bytes.length > maxAnnotationBytes ? bytes.subarray(0, maxAnnotationBytes).toString() : annotation.value);
  values.set(key, texts);
}

function denial(request: Attributes, { policy, binding, message: why, reason }: Denial): StatusError {
  const by = binding ? ` with binding '${binding.metadata.name}'` : '';
  const message = `ValidatingAdmissionPolicy '${policy.metadata.name}'${by} denied request: ${why}`;
  const { status } = forbidden(request, message);
  const as = reason || 'Invalid';
  return new StatusError({ ...status, reason: as, code: codes[as] ?? 422, details: { ...status.details, causes: [{ message }] } });
}
