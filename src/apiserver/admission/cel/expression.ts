/** Expressions of policies and webhooks, compiled. Upstream: apiserver/pkg/admission/plugin/cel/{compile,composition}.go. */
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
import { type Environment, PlanError, type Program, type StructProvider } from '#apiserver/cel/environment';
import { isReserved } from '#apiserver/cel/escaping';
import { explainExpression, type PartValue } from '#apiserver/cel/explain';
import type { Activation } from '#apiserver/cel/runtime/frame';
import { CelError } from '#apiserver/cel/runtime/values';
import { Issues } from '#apiserver/cel/syntax/source';
import { admissionEnvironment, type ExpressionAge, type VariableOptions } from './environment.ts';

/** What an expression became. */
export interface CompiledExpression {
  readonly expression: string;
  /** undefined if it could not be compiled. */
  readonly program: Program | undefined;
  /** Why not, in upstream's words. */
  readonly error: string | undefined;
  /** True for an error that is not the expression's text alone. Upstream: cel/errors.go (ErrorTypeInternal). */
  readonly isInternal?: boolean;
  /** undefined if it could not be checked. */
  readonly outputType: CelType | undefined;
  /** The parts that made it what it is, for a request that is traced; none without a program. */
  explain(activation: Activation): readonly PartValue[];
}

/** What expressions may come to. */
export const conditionTypes: readonly CelType[] = [boolType];
export const messageTypes: readonly CelType[] = [stringType];
export const auditAnnotationTypes: readonly CelType[] = [stringType, nullType];
export const variableTypes: readonly CelType[] = [anyType, dynType];

const unexplained = (): readonly PartValue[] => [];

/**
 * Compiles an expression that has to come to one of some types. `environmentOf` is called again where somebody wants to know
 * why it came to what it did: no expression keeps its environment for that.
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

/** Compiles the expressions of one policy, which may use its variables; each variable may use those before it. */
export class PolicyCompiler {
  readonly variables = new Map<string, CompiledExpression>();
  readonly #declared = new DeclaredVariables();

  /** `hasVariables`: false where the policy is validated and has none; then no expression knows of any. */
  constructor(
    readonly age: ExpressionAge,
    private readonly hasVariables = true,
  ) {}

  addVariable(name: string, expression: string, options: VariableOptions, age = this.age): CompiledExpression {
    const compiled = this.compile(expression, variableTypes, options, age);
    this.variables.set(name, compiled);
    this.#declared.add(name, compiled.outputType ? declaredType(compiled.outputType) : dynType);
    return compiled;
  }

  /** `age`: of this expression, where it is another than that of the policy. */
  compile(expression: string, returnTypes: readonly CelType[], options: VariableOptions, age = this.age): CompiledExpression {
    const structs = this.#declared.soFar();
    const environmentOf = (): Environment => {
      const environment = admissionEnvironment(options, age);
      return this.hasVariables ? environment.extend({ variables: { variables: variablesType }, structs }) : environment;
    };
    return compileExpression(environmentOf, expression, returnTypes);
  }
}

/**
 * The types of a policy's variables, of which each expression knows those before it: a policy may have 40,000, and each keeps what it was compiled in, to be
 * explained later.
 */
class DeclaredVariables {
  /** By name, the first declared first: a variable that is declared again is another from then on. */
  readonly #types = new Map<string, { readonly at: number; readonly type: CelType }[]>();
  #count = 0;

  add(name: string, type: CelType): void {
    const declared = { at: this.#count++, type };
    const before = this.#types.get(name);
    if (before) before.push(declared);
    else this.#types.set(name, [declared]);
  }

  /** The struct whose fields are the variables that are declared by now. */
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

/** The type as which a variable is declared: structs are not declared anywhere, so anything may be in them. */
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
