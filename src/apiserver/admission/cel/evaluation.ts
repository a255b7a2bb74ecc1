/**
 * Evaluates the expressions of a policy for one request. Upstream:
 * apiserver/pkg/admission/plugin/cel/{activation,composition,condition}.go.
 */
import type { GroupVersionKind, GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import { quote } from '#apimachinery/runtime/quote';
import type { Attributes } from '#apiserver/admission/attributes';
import { perCallLimit } from '#apiserver/cel/cost/limits';
import { fromJson } from '#apiserver/cel/json-values';
import { type AuthorizerValue, ResourceCheck } from '#apiserver/cel/library/authz';
import { turnOfOthers } from '#apimachinery/runtime/steps';
import { Suspended } from '#apimachinery/runtime/suspended';
import type { Activation } from '#apiserver/cel/runtime/frame';
import { CelError, CelMap, type Value } from '#apiserver/cel/runtime/values';
import type { CompiledExpression } from './expression.ts';

/** Values of the expressions' variables. */
export interface EvaluationInput {
  readonly request: Attributes;
  /** Object in the version that the policy matched; undefined if the request has none. */
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  /** Kind that the policy matched. */
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly params: KubeObject | undefined;
  readonly namespaceObject: KubeObject | undefined;
  /** Authorizer; undefined if expressions may not use it. */
  readonly authorizer: AuthorizerValue | undefined;
  /** Progress of a large evaluation, which yields to the event loop; undefined for small ones. */
  readonly progress?: EvaluationProgress | undefined;
}

/** Milliseconds of evaluation before it yields to the event loop. */
const stepMs = 5;

/**
 * Results of a request's evaluation so far. The evaluation yields to the event loop by suspending; when it restarts, it receives
 * its earlier results in their order. It must therefore be deterministic.
 */
export class EvaluationProgress {
  readonly #kept: unknown[] = [];
  #at = 0;
  #began = 0;
  #pauseAt: number | undefined;

  /** Starts or restarts the evaluation. */
  begin(): void {
    this.#at = 0;
    this.#began = performance.now();
    this.#pauseAt = undefined;
  }

  /**
   * Returns the kept result or computes it by `make`. Throws Suspended if the evaluation has run long enough: 5 ms, and at least as
   * long as the restart took.
   */
  keep<T>(make: () => T): T {
    if (this.#at < this.#kept.length) return this.#kept[this.#at++] as T;
    const now = performance.now();
    this.#pauseAt ??= now + Math.max(stepMs, now - this.#began);
    if (now >= this.#pauseAt) throw new Suspended(turnOfOthers());
    const made = make();
    this.#at = this.#kept.push(made);
    return made;
  }
}

/** Thrown when the evaluation exceeds its cost budget. */
export class OutOfBudget extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

/** Result of an expression; either `value` or `error` is set. */
export interface Evaluation {
  readonly value: Value | undefined;
  readonly error: string | undefined;
}

/** Returns the activation of a policy's expressions, kept in `progress` if there is one. */
export function activationOf(input: EvaluationInput, variables: ReadonlyMap<string, CompiledExpression>): AdmissionActivation {
  const make = (): AdmissionActivation => new AdmissionActivation(input, variables);
  return input.progress ? input.progress.keep(make) : make();
}

/** Variable values for one request; variables of the policy are evaluated on first use. */
export class AdmissionActivation implements Activation {
  readonly #values = new Map<string, Value>();
  /** Cost of variables since the last reset. */
  variableCost = 0;

  constructor(
    readonly input: EvaluationInput,
    readonly variables: ReadonlyMap<string, CompiledExpression>,
  ) {}

  resolve(name: string): Value | undefined {
    let value = this.#values.get(name);
    if (value === undefined) {
      value = this.#make(name);
      if (value !== undefined) this.#values.set(name, value);
    }
    return value;
  }

  #make(name: string): Value | undefined {
    const { request, object, oldObject, params, namespaceObject, authorizer } = this.input;
    switch (name) {
      case 'object':
        return fromJson(object);
      case 'oldObject':
        return fromJson(oldObject);
      case 'params':
        return fromJson(params);
      case 'request':
        return fromJson(requestObject(this.input));
      case 'namespaceObject':
        return fromJson(namespaceObject && visibleNamespace(namespaceObject));
      case 'variables':
        return new PolicyVariables(this);
      case 'authorizer':
        return authorizer;
      case 'authorizer.requestResource': {
        const { resource, subresource, namespace, name: objectName } = request;
        const target = { group: resource.group, resource: resource.resource, subresource, namespace, name: objectName };
        return authorizer && new ResourceCheck(authorizer, target);
      }
      default:
        return undefined;
    }
  }
}

/** The value of `variables`, whose members are evaluated on first use. */
class PolicyVariables extends CelMap {
  readonly #values = new Map<string, Value>();

  constructor(readonly activation: AdmissionActivation) {
    super();
  }

  get size(): number {
    return this.activation.variables.size;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined;
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const variable = this.activation.variables.get(key);
    if (!variable) return undefined;
    const value = this.#evaluate(key, variable);
    this.#values.set(key, value);
    return value;
  }

  *keys(): Generator<Value> {
    yield* this.activation.variables.keys();
  }

  #evaluate(name: string, { program, error }: CompiledExpression): Value {
    if (!program) return new CelError(`composited variable ${quote(name)} fails to compile: ${error}`);
    const { value, cost } = program.evaluate(this.activation);
    this.activation.variableCost += cost;
    return value instanceof CelError ? new CelError(`composited variable ${quote(name)} fails to evaluate: ${value.message}`) : value;
  }
}

interface Evaluated {
  readonly evaluation: Evaluation;
  readonly variableCost: number;
  readonly cost: number;
}

/**
 * Evaluates expressions in order within a cost budget. Throws OutOfBudget, and Suspended while an authorizer decides
 * asynchronously.
 */
export class BudgetedEvaluation {
  constructor(
    readonly activation: AdmissionActivation,
    /** Remaining cost budget. */
    public budget: number,
  ) {}

  evaluate(compiled: CompiledExpression): Evaluation {
    const { progress } = this.activation.input;
    const { evaluation, variableCost, cost } = progress ? progress.keep(() => this.#evaluate(compiled)) : this.#evaluate(compiled);
    this.#spend(variableCost);
    this.#spend(cost);
    return evaluation;
  }

  #evaluate({ expression, program, error }: CompiledExpression): Evaluated {
    if (!program) return { evaluation: { value: undefined, error: `compilation error: ${error}` }, variableCost: 0, cost: 0 };
    // Beyond the budget, OutOfBudget is thrown whatever the value is: there is no need to compute it.
    const { value, cost } = program.evaluate(this.activation, Math.min(perCallLimit, this.budget));
    const { variableCost } = this.activation;
    this.activation.variableCost = 0;
    const evaluation =
      value instanceof CelError
        ? { value: undefined, error: `expression '${expression}' resulted in error: ${value.message}` }
        : { value, error: undefined };
    return { evaluation, variableCost, cost };
  }

  #spend(cost: number): void {
    if (cost > this.budget) throw new OutOfBudget();
    this.budget -= cost;
  }
}

/** Returns the value of `request`: an AdmissionRequest without its objects. */
function requestObject({ request, kind, resource }: EvaluationInput): Record<string, unknown> {
  const { subresource, name, namespace, operation, user, dryRun, options } = request;
  return {
    kind: { group: kind.group, version: kind.version, kind: kind.kind },
    resource: { group: resource.group, version: resource.version, resource: resource.resource },
    subResource: subresource || undefined,
    requestKind: { group: request.kind.group, version: request.kind.version, kind: request.kind.kind },
    requestResource: { group: request.resource.group, version: request.resource.version, resource: request.resource.resource },
    requestSubResource: subresource || undefined,
    name: name || undefined,
    namespace: namespace || undefined,
    operation,
    userInfo: {
      username: user.name || undefined,
      uid: user.uid || undefined,
      groups: user.groups.length > 0 ? user.groups : undefined,
      extra: user.extra && Object.keys(user.extra).length > 0 ? user.extra : undefined,
    },
    dryRun,
    options,
  };
}

const namespaceMetadata = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'finalizers',
] as const;

/** Returns the fields of a namespace that expressions may read. */
function visibleNamespace(namespace: KubeObject): Record<string, unknown> {
  const known = namespace.metadata as unknown as Record<string, unknown>;
  const metadata = Object.fromEntries(namespaceMetadata.map((name) => [name, known[name]]));
  const { spec = {}, status = {} } = namespace as KubeObject & { spec?: unknown; status?: unknown };
  return { metadata, spec, status };
}
