/** Expressions of policies and webhooks, compiled. Upstream: apiserver/pkg/admission/plugin/cel/{compile,composition}.go. */
import {
  anyType,
  boolType,
  type CelType,
  describeType,
  dynType,
  isExactType,
  nullType,
  stringType,
  structType,
} from '#apiserver/cel/check/types';
import { type DeclField, type DeclType, dynDecl, listDecl, mapDecl, objectDecl, simpleDecl } from '#apiserver/cel/decl-type';
import { type Environment, PlanError, type Program } from '#apiserver/cel/environment';
import { explainExpression, type PartValue } from '#apiserver/cel/explain';
import type { Activation } from '#apiserver/cel/runtime/frame';
import { Issues } from '#apiserver/cel/syntax/source';
import { admissionEnvironment, type ExpressionAge, type VariableOptions } from './environment.ts';

/** What an expression became. */
export interface CompiledExpression {
  readonly expression: string;
  /** undefined if it could not be compiled. */
  readonly program: Program | undefined;
  /** Why not, in upstream's words. */
  readonly error: string | undefined;
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
    return failed(`program instantiation failed: ${error.message}`);
  }
}

const variablesType = structType('kubernetes.variables');

/** Compiles the expressions of one policy, which may use its variables; each variable may use those before it. */
export class PolicyCompiler {
  readonly variables = new Map<string, CompiledExpression>();
  readonly #fields = new Map<string, DeclField>();

  constructor(readonly age: ExpressionAge) {}

  addVariable(name: string, expression: string, options: VariableOptions, age = this.age): CompiledExpression {
    const compiled = this.compile(expression, variableTypes, options, age);
    this.variables.set(name, compiled);
    this.#fields.set(name, { name, type: compiled.outputType ? declOf(compiled.outputType) : dynDecl, required: true });
    return compiled;
  }

  /** `age`: of this expression, where it is another than that of the policy. */
  compile(expression: string, returnTypes: readonly CelType[], options: VariableOptions, age = this.age): CompiledExpression {
    const variables = objectDecl(variablesType.name, new Map(this.#fields));
    const environmentOf = (): Environment =>
      admissionEnvironment(options, age).extend({ variables: { variables: variablesType }, declTypes: [variables] });
    return compileExpression(environmentOf, expression, returnTypes);
  }
}

/** The declared type of a variable: structs are not declared anywhere, so anything may be in them. */
function declOf(type: CelType): DeclType {
  switch (type.kind) {
    case 'list':
      return listDecl(declOf(type.parameters[0]!));
    case 'map':
      return mapDecl(declOf(type.parameters[0]!), declOf(type.parameters[1]!));
    case 'struct':
    case 'opaque':
    case 'type':
      return dynDecl;
    default:
      return simpleDecl(type.name, type, 1);
  }
}
