/** Compilation of the expressions of policies and webhooks. Upstream: apiserver/pkg/admission/plugin/cel/{compile,composition}.go. */
import {
  anyType,
  boolType,
  type CelType,
  describeType,
  dynType,
  isExactType,
  listType,
  mapType,
  nullType,
  stringType,
  structType,
} from '#apiserver/cel/check/types';
import { type Environment, type Expression, PlanError, type Program, type StructProvider } from '#apiserver/cel/environment';
import { isReserved } from '#apiserver/cel/escaping';
import { explainExpression, type PartValue } from '#apiserver/cel/explain';
import type { Activation } from '#apiserver/cel/runtime/frame';
import { CelError } from '#apiserver/cel/runtime/values';
import { Issues } from '#apiserver/cel/syntax/source';
import { admissionEnvironment, type ExpressionAge, type VariableOptions } from './environment.ts';

/** A compiled expression. */
export interface CompiledExpression {
  readonly expression: string;
  /** Program; undefined if compilation failed. */
  readonly program: Program | undefined;
  /** Compilation error in upstream's words. */
  readonly error: string | undefined;
  /** True for an error that is not caused by the expression's text alone. Upstream: cel/errors.go (ErrorTypeInternal). */
  readonly isInternal?: boolean;
  /** Output type; undefined if type checking failed. */
  readonly outputType: CelType | undefined;
  /** Returns the values of the subexpressions that determined the result, for a trace; empty without a program. */
  explain(activation: Activation): readonly PartValue[];
}

/** Output types of conditions. */
export const conditionTypes: readonly CelType[] = [boolType];
export const messageTypes: readonly CelType[] = [stringType];
export const auditAnnotationTypes: readonly CelType[] = [stringType, nullType];
export const variableTypes: readonly CelType[] = [anyType, dynType];

const unexplained = (): readonly PartValue[] => [];

/**
 * Compiles an expression with one of the given output types. `environmentOf` is called again to explain a result, so that
 * expressions do not retain their environment.
 */
export function compileExpression(
  environmentOf: () => Environment,
  expression: string,
  returnTypes: readonly CelType[],
): CompiledExpression {
  const failed = (error: string, outputType?: CelType): CompiledExpression => ({
    expression,
    program: undefined,
    error,
    outputType,
    explain: unexplained,
  });
  const compiled = environmentOf().compile(expression);
  if (compiled instanceof Issues) return failed(`compilation failed: ${compiled}`);
  const { outputType } = compiled;
  if (!returnTypes.some((type) => type === anyType || isExactType(type, outputType))) {
    const names = returnTypes.map(describeType);
    const wanted = names.length === 1 ? names[0] : `one of [${names.join(' ')}]`;
    return failed(`must evaluate to ${wanted} but got ${describeType(outputType)}`);
  }
  try {
    const explain = (activation: Activation): PartValue[] => explainExpression(environmentOf(), expression, activation);
    return { expression, program: compiled.program(), error: undefined, outputType, explain };
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    return { ...failed(`program instantiation failed: ${error.message}`), isInternal: true };
  }
}

const variablesType = structType('kubernetes.variables');

/** Compiles the expressions of one policy. They may use the policy's variables; a variable may use those before it. */
export class PolicyCompiler {
  readonly variables = new Map<string, CompiledExpression>();
  readonly #declared = new DeclaredVariables();

  /**
   * `hasVariables` is false when a policy without variables is validated; its expressions then have no `variables`. `base` returns the
   * environment without the policy's variables.
   */
  constructor(
    readonly age: ExpressionAge,
    private readonly hasVariables = true,
    private readonly base: (options: VariableOptions, age: ExpressionAge) => Environment = admissionEnvironment,
  ) {}

  addVariable(name: string, expression: string, options: VariableOptions, age = this.age): CompiledExpression {
    const compiled = this.compile(expression, variableTypes, options, age);
    this.variables.set(name, compiled);
    this.#declared.add(name, compiled.outputType ? declaredType(compiled.outputType) : dynType);
    return compiled;
  }

  /** Compiles an expression. `age` overrides that of the policy. */
  compile(expression: string, returnTypes: readonly CelType[], options: VariableOptions, age = this.age): CompiledExpression {
    return compileExpression(this.#environmentOf(options, age), expression, returnTypes);
  }

  /** Parses and checks an expression of any type, without a program. Returns its issues if it is invalid. */
  check(expression: string, options: VariableOptions): Expression | Issues {
    return this.#environmentOf(options, this.age)().compile(expression);
  }

  #environmentOf(options: VariableOptions, age: ExpressionAge): () => Environment {
    const structs = this.#declared.soFar();
    return () => {
      const environment = this.base(options, age);
      return this.hasVariables ? environment.extend({ variables: { variables: variablesType }, structs }) : environment;
    };
  }
}

/**
 * Types of a policy's variables. An expression sees the variables declared before it. All expressions share one table, because a
 * policy may have 40,000 variables and each expression keeps its view to explain results.
 */
class DeclaredVariables {
  /** Declarations by name, in order; a repeated declaration changes the type for later expressions. */
  readonly #types = new Map<string, { readonly at: number; readonly type: CelType }[]>();
  #count = 0;

  add(name: string, type: CelType): void {
    const declared = { at: this.#count++, type };
    const before = this.#types.get(name);
    if (before) before.push(declared);
    else this.#types.set(name, [declared]);
  }

  /** Returns a struct type whose fields are the variables declared so far. */
  soFar(): StructProvider {
    const count = this.#count;
    const find = (name: string): CelType | undefined => this.#types.get(name)?.findLast(({ at }) => at < count)?.type;
    const has = (typeName: string): boolean => typeName === variablesType.name;
    return {
      has,
      findField: (typeName, field) => (has(typeName) ? (find(field) ?? (isReserved(field) ? find(`__${field}__`) : undefined)) : undefined),
      create: (typeName) => new CelError(`unknown type '${typeName}'`),
    };
  }
}

/** Returns the declared type of a variable; dyn for structs, whose types are not declared. */
function declaredType(type: CelType): CelType {
  switch (type.kind) {
    case 'list':
      return listType(declaredType(type.parameters[0]!));
    case 'map':
      return mapType(declaredType(type.parameters[0]!), declaredType(type.parameters[1]!));
    case 'struct':
    case 'opaque':
    case 'type':
      return dynType;
    default:
      return type;
  }
}
