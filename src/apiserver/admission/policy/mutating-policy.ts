/**
 * A compiled MutatingAdmissionPolicy. Upstream: apiserver/pkg/admission/plugin/policy/mutating/{compilation,dispatcher}.go,
 * mutating/patch.
 */
import { newInternalError } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { applyJsonPatch, JsonPatchError, TestFailedError } from '#apimachinery/patch/json-patch';
import { type JsonObject, setOwn } from '#apimachinery/patch/own-property';
import { DecodeError, parseEncodedText } from '#apimachinery/runtime/json/json';
import type { Steps } from '#apimachinery/runtime/steps';
import { deepCopy } from '#apimachinery/runtime/copy';
import { AdmissionActivation, BudgetedEvaluation, type EvaluationInput, OutOfBudget } from '#apiserver/admission/cel/evaluation';
import { type CompiledExpression, PolicyCompiler } from '#apiserver/admission/cel/expression';
import { type ConditionOutcome, MatchConditions } from '#apiserver/admission/cel/match-conditions';
import { JsonPatchValue, jsonPatchListType, ObjectValue, objectType } from '#apiserver/admission/cel/patch-types';
import { runtimeCELCostBudget } from '#apiserver/cel/cost/limits';
import { CelList, type Value } from '#apiserver/cel/runtime/values';
import { type BytesForm, NotJsonError, toJson } from '#apiserver/cel/to-json';
import { applyConfiguration } from './apply-configuration.ts';
import type { MutatingPolicySpec, Mutation } from './policy-types.ts';

/** A failed mutation; the client receives its message if the policy fails closed. */
export class MutationError extends Error {
  override readonly name = 'MutationError';
}

/** Returns the mutated object in the version that the policy matched. Throws MutationError, StatusError, Suspended. */
type Mutator = (input: EvaluationInput) => KubeObject;

export class MutatingPolicy {
  readonly #mutators: Mutator[] = [];
  readonly #variables: ReadonlyMap<string, CompiledExpression>;
  readonly #matchConditions: MatchConditions;
  readonly #ignoresFailures: boolean;

  private constructor(spec: MutatingPolicySpec, variables: ReadonlyMap<string, CompiledExpression>, matchConditions: MatchConditions) {
    this.#variables = variables;
    this.#matchConditions = matchConditions;
    this.#ignoresFailures = spec.failurePolicy === 'Ignore';
  }

  /** Compiles a policy; yields between expressions. Compilation errors fail the requests that match. */
  static *compile(spec: MutatingPolicySpec): Steps<MutatingPolicy> {
    const compiler = new PolicyCompiler('stored');
    const options = { params: spec.paramKind !== undefined, authorizer: true };
    for (const { name, expression } of spec.variables ?? []) {
      compiler.addVariable(name, expression, options);
      yield;
    }
    const matchConditions = MatchConditions.ofPolicy(spec.matchConditions ?? [], compiler, options);
    const policy = new MutatingPolicy(spec, compiler.variables, matchConditions);
    for (const mutation of spec.mutations ?? []) {
      policy.#mutators.push(policy.#mutatorOf(mutation, compiler, options));
      yield;
    }
    return policy;
  }

  /** Mutations, in order. */
  get mutators(): readonly Mutator[] {
    return this.#mutators;
  }

  /** Evaluates the match conditions. Throws Suspended. */
  match(input: EvaluationInput): ConditionOutcome {
    return this.#matchConditions.match(input, this.#ignoresFailures);
  }

  #mutatorOf(
    { patchType, applyConfiguration: configuration, jsonPatch }: Mutation,
    compiler: PolicyCompiler,
    options: { params: boolean; authorizer: boolean },
  ): Mutator {
    const withTypes = { ...options, patchTypes: true };
    if (patchType === 'ApplyConfiguration') {
      const compiled = compiler.compile(configuration?.expression ?? '', [objectType], withTypes);
      return (input) => applied(input, this.#evaluate(compiled, input));
    }
    const compiled = compiler.compile(jsonPatch?.expression ?? '', [jsonPatchListType], withTypes);
    return (input) => patched(input, this.#evaluate(compiled, input));
  }

  #evaluate(compiled: CompiledExpression, input: EvaluationInput): Value {
    if (compiled.error !== undefined) throw new MutationError(compiled.error);
    try {
      const { value, error } = new BudgetedEvaluation(new AdmissionActivation(input, this.#variables), runtimeCELCostBudget).evaluate(
        compiled,
      );
      if (error !== undefined) throw new MutationError(error);
      return value as Value;
    } catch (error) {
      throw error instanceof OutOfBudget ? new MutationError(error.message) : error;
    }
  }
}

function applied({ request, object, kind }: EvaluationInput, value: Value): KubeObject {
  const live = object as KubeObject;
  if (!(value instanceof ObjectValue)) throw new MutationError('unsupported return type from ApplyConfiguration expression');
  checkTypes(value);
  const configuration = asJson(value, 'bytes') as JsonObject;
  setOwn(configuration, 'apiVersion', live.apiVersion);
  setOwn(configuration, 'kind', live.kind);
  try {
    const merged = applyConfiguration(request.forms.shape(kind), live, configuration);
    return request.forms.decode(deepCopy(merged), kind);
  } catch (error) {
    throw new MutationError(`error applying patch: ${(error as Error).message}`, { cause: error });
  }
}

function patched({ request, object, kind }: EvaluationInput, value: Value): KubeObject {
  const live = object as KubeObject;
  if (!(value instanceof CelList)) throw new MutationError('type mismatch: JSONPatchType.expression should evaluate to array');
  const operations = [...value].map(operationOf);
  try {
    const document = parseEncodedText(request.forms.encode(live, kind), true);
    return request.forms.decode(deepCopy(applyJsonPatch(document, operations)), kind, true);
  } catch (error) {
    if (error instanceof TestFailedError) return live;
    if (error instanceof JsonPatchError) throw new MutationError(`JSON Patch: ${error.message}`, { cause: error });
    if (error instanceof DecodeError) throw newInternalError(error);
    throw error;
  }
}

function operationOf(operation: Value): JsonObject {
  if (!(operation instanceof JsonPatchValue))
    throw new MutationError('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch');
  const from = operation.member('from');
  const patch: JsonObject = { op: operation.member('op'), path: operation.member('path'), ...(from && { from }) };
  const { value } = operation;
  if (value === undefined) return patch;
  if (value instanceof ObjectValue) checkTypes(value);
  try {
    return { ...patch, value: asJson(value) };
  } catch (error) {
    if (!(error instanceof MutationError)) throw error;
    throw new MutationError(`JSONPath valueExpression evaluated to a type that could not marshal to JSON: ${error.message}`, {
      cause: error,
    });
  }
}

function checkTypes(value: ObjectValue): void {
  const wrong = value.misplacedTypes();
  if (wrong.length > 0) throw new MutationError(`type mismatch: ${wrong.join('\n')}`);
}

function asJson(value: Value, form?: BytesForm): unknown {
  try {
    return toJson(value, undefined, form);
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    throw new MutationError(error.message, { cause: error });
  }
}
