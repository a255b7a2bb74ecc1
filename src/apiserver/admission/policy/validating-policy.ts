/** A compiled ValidatingAdmissionPolicy. Upstream: apiserver/pkg/admission/plugin/policy/validating/{plugin,validator}.go. */
import { activationOf, BudgetedEvaluation, type EvaluationInput, OutOfBudget } from '#apiserver/admission/cel/evaluation';
import {
  auditAnnotationTypes,
  type CompiledExpression,
  conditionTypes,
  messageTypes,
  PolicyCompiler,
} from '#apiserver/admission/cel/expression';
import type { Steps } from '#apimachinery/runtime/steps';
import type { PartValue } from '#apiserver/cel/explain';
import { type ConditionOutcome, MatchConditions } from '#apiserver/admission/cel/match-conditions';
import { maxEvaluatedMessageExpressionSizeBytes, runtimeCELCostBudget } from '#apiserver/cel/cost/limits';
import type { ValidatingPolicySpec } from './policy-types.ts';

/** Result of one validation. */
export interface PolicyDecision {
  readonly admitted: boolean;
  /** Reason of the failure; empty if the validation holds. */
  readonly message: string;
  /** Reason of the Status; empty: Invalid. */
  readonly reason: string;
  /** True if the evaluation failed; `message` is set even if failures are ignored. */
  readonly failed?: boolean;
  /** Duration of the evaluation. */
  readonly seconds: number;
  /** Subexpressions that made the expression false; undefined if the request is not traced. */
  readonly parts?: readonly PartValue[];
}

/** An audit annotation that is not empty, or the error of its evaluation. */
export type PublishedAnnotation = { readonly key: string; readonly value: string } | { readonly error: string; readonly seconds: number };

export interface ValidateResult {
  /** One decision for each validation, in order; a single one if the evaluation failed before. */
  readonly decisions: readonly PolicyDecision[];
  readonly annotations: readonly PublishedAnnotation[];
  readonly conditions: ConditionOutcome;
}

/** Number of expressions that are evaluated in a few milliseconds at most. */
const manyExpressions = 200;

interface CompiledValidation {
  readonly condition: CompiledExpression;
  readonly messageExpression: CompiledExpression | undefined;
  readonly message: string;
  readonly reason: string;
}

interface CompiledAnnotation {
  readonly key: string;
  readonly expression: CompiledExpression;
}

export class ValidatingPolicy {
  readonly #variables: ReadonlyMap<string, CompiledExpression>;
  readonly #matchConditions: MatchConditions;
  readonly #validations: readonly CompiledValidation[];
  readonly #annotations: readonly CompiledAnnotation[];
  readonly #ignoresFailures: boolean;

  private constructor(
    spec: ValidatingPolicySpec,
    variables: ReadonlyMap<string, CompiledExpression>,
    matchConditions: MatchConditions,
    validations: readonly CompiledValidation[],
    annotations: readonly CompiledAnnotation[],
  ) {
    this.#variables = variables;
    this.#matchConditions = matchConditions;
    this.#validations = validations;
    this.#annotations = annotations;
    this.#ignoresFailures = spec.failurePolicy === 'Ignore';
  }

  /** Compiles a policy; yields between expressions. Compilation errors fail the requests that match. */
  static *compile(spec: ValidatingPolicySpec): Steps<ValidatingPolicy> {
    const compiler = new PolicyCompiler('stored');
    const params = spec.paramKind !== undefined;
    const options = { params, authorizer: true };
    const withoutAuthorizer = { params, authorizer: false };
    for (const { name, expression } of spec.variables ?? []) {
      compiler.addVariable(name, expression, options);
      yield;
    }
    const matchConditions = MatchConditions.ofPolicy(spec.matchConditions ?? [], compiler, options);
    const validations: CompiledValidation[] = [];
    for (const { expression, messageExpression, message = '', reason = '' } of spec.validations ?? []) {
      const condition = compiler.compile(expression, conditionTypes, options);
      const text = messageExpression ? compiler.compile(messageExpression, messageTypes, withoutAuthorizer) : undefined;
      validations.push({ condition, messageExpression: text, message, reason });
      yield;
    }
    const annotations = (spec.auditAnnotations ?? []).map(({ key, valueExpression }) => ({
      key,
      expression: compiler.compile(valueExpression, auditAnnotationTypes, options),
    }));
    return new ValidatingPolicy(spec, compiler.variables, matchConditions, validations, annotations);
  }

  /** True if the policy has so many expressions that the evaluation yields to the event loop. */
  get isLarge(): boolean {
    return this.#validations.length + this.#annotations.length > manyExpressions;
  }

  /** Evaluates the policy. Throws Suspended. */
  validate(input: EvaluationInput): ValidateResult {
    const conditions = this.#matchConditions.match(input, this.#ignoresFailures);
    const failed = (error: Error): ValidateResult => ({ conditions, decisions: [this.#failed(error.message)], annotations: [] });
    if (conditions.match instanceof Error) return failed(conditions.match);
    if (!conditions.match) return { conditions, decisions: [], annotations: [] };
    try {
      return { conditions, decisions: this.#decide(input), annotations: this.#annotate(input) };
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error;
      return failed(error);
    }
  }

  #failed(message: string, seconds = 0): PolicyDecision {
    return { admitted: this.#ignoresFailures, message, reason: '', failed: true, seconds };
  }

  #decide(input: EvaluationInput): PolicyDecision[] {
    const evaluation = new BudgetedEvaluation(activationOf(input, this.#variables), runtimeCELCostBudget);
    const results = this.#validations.map(({ condition }) => timed(() => evaluation.evaluate(condition)));
    const messages = this.#messages({ ...input, authorizer: undefined }, evaluation.budget);
    return results.map(({ value, error, seconds }, at) => {
      if (error !== undefined) return this.#failed(error, seconds);
      if (messages instanceof OutOfBudget) return this.#failed(`failed messageExpression: ${messages.message}`, seconds);
      if (value === true) return { admitted: true, message: '', reason: '', seconds };
      const validation = this.#validations[at]!;
      const message = messages[at] || validation.message.trim() || `failed expression: ${validation.condition.expression.trim()}`;
      const parts = input.request.trace && validation.condition.explain(evaluation.activation);
      return { admitted: false, message, reason: validation.reason || 'Invalid', seconds, ...(parts && { parts }) };
    });
  }

  /** Returns the message of each validation; empty if its messageExpression has no usable result. */
  #messages(input: EvaluationInput, budget: number): readonly string[] | OutOfBudget {
    const evaluation = new BudgetedEvaluation(activationOf(input, this.#variables), budget);
    try {
      return this.#validations.map(({ messageExpression }) => {
        const { value } = messageExpression ? evaluation.evaluate(messageExpression) : { value: undefined };
        const text = typeof value === 'string' ? value.trim() : '';
        return text.includes('\n') || Buffer.byteLength(text) > maxEvaluatedMessageExpressionSizeBytes ? '' : text;
      });
    } catch (error) {
      if (error instanceof OutOfBudget) return error;
      throw error;
    }
  }

  #annotate(input: EvaluationInput): PublishedAnnotation[] {
    const activation = activationOf({ ...input, authorizer: undefined }, this.#variables);
    const evaluation = new BudgetedEvaluation(activation, runtimeCELCostBudget);
    return this.#annotations.flatMap(({ key, expression }): PublishedAnnotation[] => {
      const { value, error, seconds } = timed(() => evaluation.evaluate(expression));
      if (error !== undefined) return this.#ignoresFailures ? [] : [{ error, seconds }];
      const text = typeof value === 'string' ? value.trim() : '';
      return text === '' ? [] : [{ key, value: text }];
    });
  }
}

function timed<T extends object>(evaluate: () => T): T & { readonly seconds: number } {
  const began = performance.now();
  return { ...evaluate(), seconds: (performance.now() - began) / 1_000 };
}
