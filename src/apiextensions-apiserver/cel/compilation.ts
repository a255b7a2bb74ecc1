import type { ValidationRule } from '#apimachinery/structural/json-schema-props';
import type { Structural } from '#apimachinery/structural/structural';
import { FieldPathError, validFieldPath } from '#apimachinery/structural/valid-field-path';
import { boolType, optionalType, stringType } from '#apiserver/cel/check/types';
import { type SizeEstimator, sizesFromRoot } from '#apiserver/cel/cost/estimate';
import { maxRequestSizeBytes } from '#apiserver/cel/cost/limits';
import { assignTypeName, type DeclType } from '#apiserver/cel/decl-type';
import { type Environment, type Expression, PlanError, type Program } from '#apiserver/cel/environment';
import { children, type Expr } from '#apiserver/cel/syntax/ast';
import { Issues } from '#apiserver/cel/syntax/source';

/** Result of the compilation of one rule of `x-kubernetes-validations`. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  /** undefined if the rule is empty or has an error. */
  readonly program?: Program;
  /** The compilation error. */
  readonly error?: string;
  readonly usesOldSelf: boolean;
  /** Maximum cost of one evaluation. */
  readonly maxCost: number;
  /** Maximum number of evaluations per request. */
  readonly maxCardinality: number;
  readonly message?: Program;
  readonly messageError?: string;
  readonly messageMaxCost: number;
  /** The rule's fieldPath, relative to its value. */
  readonly fieldPath?: string;
}

/** CEL environments: stored expressions may use more features than new ones. */
export interface Environments {
  rule(text: string): Environment;
  message(text: string): Environment;
}

const selfType = 'selfType';

/** Compiles the rules of a schema. Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go. */
export function compileRules(
  rules: readonly ValidationRule[],
  schema: Structural,
  declType: DeclType,
  environments: Environments,
): CompiledRule[] {
  const type = assignTypeName(declType, selfType);
  const sizes = sizesFromRoot(type);
  const maxCardinality = Math.trunc(maxRequestSizeBytes / (declType.minSerializedSize + 1));
  return rules.map((rule) => {
    const extend = (environment: Environment): Environment =>
      environment.extend({
        variables: { self: type.celType, oldSelf: rule.optionalOldSelf ? optionalType(type.celType) : type.celType },
        declTypes: [type],
      });
    const compiled = compileRule(rule, extend(environments.rule(rule.rule ?? '')), sizes);
    const path = rule.fieldPath ? normalizedPath(rule.fieldPath, schema) : undefined;
    return {
      rule,
      ...compiled,
      ...(compiled.program && rule.messageExpression
        ? compileMessage(rule.messageExpression, extend(environments.message(rule.messageExpression)), sizes)
        : { messageMaxCost: 0 }),
      maxCardinality,
      ...(path !== undefined && { fieldPath: path }),
    };
  });
}

type Compiled = Pick<CompiledRule, 'program' | 'error' | 'usesOldSelf' | 'maxCost'>;

function compileRule({ rule = '' }: ValidationRule, environment: Environment, sizes: SizeEstimator): Compiled {
  const failed = (error: string, usesOldSelf = false): Compiled => ({ error, usesOldSelf, maxCost: 0 });
  if (rule.trim() === '') return { usesOldSelf: false, maxCost: 0 };
  const expression = environment.compile(rule);
  if (expression instanceof Issues) return failed(`compilation failed: ${expression.toString()}`);
  if (expression.outputType !== boolType) return failed('cel expression must evaluate to a bool');
  const usesOldSelf = names(expression.ast.expr, 'oldSelf');
  const program = programOf(expression);
  if (typeof program === 'string') return failed(`program instantiation failed: ${program}`, usesOldSelf);
  return { program, usesOldSelf, maxCost: expression.estimateCost(sizes).max };
}

type CompiledMessage = Pick<CompiledRule, 'message' | 'messageError' | 'messageMaxCost'>;

function compileMessage(text: string, environment: Environment, sizes: SizeEstimator): CompiledMessage {
  const failed = (messageError: string): CompiledMessage => ({ messageError, messageMaxCost: 0 });
  const expression = environment.compile(text);
  if (expression instanceof Issues) return failed(`messageExpression compilation failed: ${expression.toString()}`);
  if (expression.outputType !== stringType) return failed('messageExpression must evaluate to a string');
  const message = programOf(expression);
  if (typeof message === 'string') return failed(`messageExpression instantiation failed: ${message}`);
  return { message, messageMaxCost: expression.estimateCost(sizes).max };
}

/** Returns the program, or the compilation error. */
function programOf(expression: Expression): Program | string {
  try {
    return expression.program();
  } catch (error) {
    if (error instanceof PlanError) return error.message;
    throw error;
  }
}

/** True if an expression contains the identifier. */
function names(expr: Expr, identifier: string): boolean {
  const { node } = expr;
  return (node.kind === 'ident' && node.name === identifier) || children(expr).some((child) => names(child, identifier));
}

function normalizedPath(fieldPath: string, schema: Structural): string | undefined {
  try {
    return validFieldPath(fieldPath, schema).path.toString();
  } catch (error) {
    if (error instanceof FieldPathError) return undefined;
    throw error;
  }
}
