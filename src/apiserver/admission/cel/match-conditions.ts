/** `matchConditions` of policies and webhooks. Upstream: apiserver/pkg/admission/plugin/webhook/matchconditions/matcher.go. */
import { runtimeCELCostBudgetMatchConditions } from '#apiserver/cel/cost/limits';
import type { VariableOptions } from './environment.ts';
import { activationOf, type AdmissionActivation, BudgetedEvaluation, type EvaluationInput, OutOfBudget } from './evaluation.ts';
import { type CompiledExpression, conditionTypes, PolicyCompiler } from './expression.ts';

export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** True if all conditions hold, false if one does not, an error if the evaluation failed. */
export type ConditionMatch = boolean | Error;

/** Result of evaluating conditions. */
export interface ConditionOutcome {
  readonly match: ConditionMatch;
  /** Number of conditions whose evaluation failed. */
  readonly failures: number;
  readonly seconds: number;
}

const noConditions: ConditionOutcome = { match: true, failures: 0, seconds: 0 };

/** Conditions that must all hold. */
/** Cost that expressions may still have together. */
export interface CostBudget {
  remaining: number;
}

const newConditionBudget = (): CostBudget => ({ remaining: runtimeCELCostBudgetMatchConditions });

export class MatchConditions {
  constructor(
    readonly conditions: readonly CompiledExpression[],
    readonly variables: ReadonlyMap<string, CompiledExpression> = new Map(),
  ) {}

  /** Compiles the conditions of a webhook, without parameters and variables. */
  static ofWebhook(conditions: readonly MatchCondition[]): MatchConditions {
    return MatchConditions.ofPolicy(conditions, new PolicyCompiler('stored'), { params: false, authorizer: true });
  }

  /** Compiles the conditions of a policy, which may use its variables. */
  static ofPolicy(conditions: readonly MatchCondition[], compiler: PolicyCompiler, options: VariableOptions): MatchConditions {
    return new MatchConditions(
      conditions.map(({ expression }) => compiler.compile(expression, conditionTypes, options)),
      compiler.variables,
    );
  }

  /**
   * Evaluates the conditions. A false one decides, even if others fail. Spends the cost from `budget`, which may be shared by several
   * evaluations. Throws Suspended.
   */
  match(input: EvaluationInput, ignoreFailures: boolean, budget: CostBudget = newConditionBudget()): ConditionOutcome {
    if (this.conditions.length === 0) return noConditions;
    const began = performance.now();
    const errors: string[] = [];
    const match = this.#decide(input, ignoreFailures, errors, budget);
    return { match, failures: errors.length, seconds: (performance.now() - began) / 1_000 };
  }

  #decide(input: EvaluationInput, ignoreFailures: boolean, errors: string[], budget: CostBudget): ConditionMatch {
    const activation = activationOf({ ...input, namespaceObject: undefined }, this.variables);
    const evaluation = new BudgetedEvaluation(activation, budget.remaining);
    try {
      for (const condition of this.conditions) {
        const { value, error } = evaluation.evaluate(condition);
        if (error !== undefined) errors.push(error);
        if (value === false) {
          note(input, condition, activation);
          return false;
        }
      }
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error;
      evaluation.budget = 0;
      return ignoreFailures ? false : error;
    } finally {
      budget.remaining = Math.max(0, evaluation.budget);
    }
    if (errors.length === 0) return true;
    if (ignoreFailures) return false;
    return new Error(errors.length === 1 ? errors[0] : `[${[...new Set(errors)].join(', ')}]`);
  }
}

function note({ request }: EvaluationInput, { expression, explain }: CompiledExpression, activation: AdmissionActivation): void {
  if (!request.trace) return;
  const details = Object.fromEntries(explain(activation).map((part) => [part.expression, part.value]));
  request.trace.note({ kind: 'matchCondition', name: expression, verdict: 'false', details });
}
