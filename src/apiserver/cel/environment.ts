/**
 * Environments and compilation of expressions. Upstream: cel-go cel/env.go, apiserver/pkg/cel/environment, pkg/cel/types.go
 * (DeclTypeProvider).
 */
import { refusePlaceholders, settled } from '#apimachinery/runtime/suspended';
import { validateAst } from './check/ast-validators.ts';
import { check, type CheckedAst, type CheckerScope } from './check/checker.ts';
import { type FunctionDeclaration, mergeFunctions } from './check/declarations.ts';
import {
  anyListType,
  anyMapType,
  boolType,
  bytesType,
  CelType,
  doubleType,
  durationType,
  intType,
  nullType,
  stringType,
  timestampType,
  typeType,
  uintType,
} from './check/types.ts';
import { estimateCost, type Interval, type SizeEstimator } from './cost/estimate.ts';
import { perCallLimit } from './cost/limits.ts';
import { collectObjects, type DeclType } from './decl-type.ts';
import { isReserved } from './escaping.ts';
import { standardFunctions } from './library/standard.ts';
import { type Activation, CostLimitExceeded, type Evaluate, Frame } from './runtime/frame.ts';
import { plan, PlanError, type PlannerScope } from './runtime/planner.ts';
import { CelError, type Value } from './runtime/values.ts';
import { type Macro, standardMacros } from './syntax/macros.ts';
import { parse } from './syntax/parser.ts';
import { type Issues, Source } from './syntax/source.ts';

/** A set of related functions, macros and types. */
export interface Library {
  readonly functions?: readonly FunctionDeclaration[];
  readonly macros?: readonly Macro[];
  /** Named types that the library adds. */
  readonly types?: readonly CelType[];
}

/** Fields and construction (`Type{…}`) of struct types. */
export interface StructProvider {
  /** Returns the type of a field; undefined if the type or field is unknown to this provider. */
  findField(typeName: string, field: string): CelType | undefined;
  has(typeName: string): boolean;
  create(typeName: string, fields: ReadonlyMap<string, Value>): Value;
}

export interface Extension extends Library {
  readonly variables?: Readonly<Record<string, CelType>>;
  /** Object types to add, with all nested ones. */
  readonly declTypes?: readonly DeclType[];
  readonly structs?: StructProvider;
}

interface Content {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly macros: readonly Macro[];
  readonly types: ReadonlyMap<string, CelType>;
  readonly variables: ReadonlyMap<string, CelType>;
  readonly objects: ReadonlyMap<string, DeclType>;
  readonly structs: readonly StructProvider[];
}

/** An immutable set of functions, macros, types and variables. */
export class Environment implements CheckerScope, PlannerScope {
  readonly #content: Content;

  private constructor(content: Content) {
    this.#content = content;
  }

  /** Returns the environment of the language without the Kubernetes libraries. */
  static standard(): Environment {
    const types = [boolType, bytesType, doubleType, durationType, intType, nullType, stringType, timestampType, typeType, uintType];
    const named = new Map([...types, anyListType, anyMapType].map((type) => [type.name, type]));
    return new Environment({
      functions: mergeFunctions(standardFunctions),
      macros: standardMacros,
      types: named,
      variables: new Map(),
      objects: new Map(),
      structs: [],
    });
  }

  extend(...extensions: readonly Extension[]): Environment {
    let content = this.#content;
    for (const extension of extensions) content = extendContent(content, extension);
    return new Environment(content);
  }

  findVariable(name: string): CelType | undefined {
    return this.#content.variables.get(name);
  }

  findType(name: string): CelType | undefined {
    const object = this.#content.objects.get(name);
    if (object) return object.celType;
    if (this.#content.structs.some((provider) => provider.has(name))) return new CelType('struct', name);
    return this.#content.types.get(name);
  }

  findFunction(name: string): FunctionDeclaration | undefined {
    return this.#content.functions.get(name);
  }

  hasStruct(typeName: string): boolean {
    return this.#content.objects.has(typeName) || this.#content.structs.some((provider) => provider.has(typeName));
  }

  findField(typeName: string, field: string): CelType | undefined {
    const fields = this.#content.objects.get(typeName)?.fields;
    if (fields) return (fields.get(field) ?? (isReserved(field) ? fields.get(`__${field}__`) : undefined))?.type.celType;
    return this.#content.structs.find((provider) => provider.has(typeName))?.findField(typeName, field);
  }

  newStruct(typeName: string, fields: ReadonlyMap<string, Value>): Value {
    const provider = this.#content.structs.find((candidate) => candidate.has(typeName));
    return provider ? provider.create(typeName, fields) : new CelError(`unknown type '${typeName}'`);
  }

  /** Parses and checks an expression. Returns its issues if it is invalid. */
  compile(text: string): Expression | Issues {
    const source = new Source(text);
    const { ast, issues } = parse(source, { macros: this.#content.macros, optionalSyntax: true });
    if (!ast) return issues;
    const checked = check(ast, this, issues);
    if (issues.length === 0) validateAst(checked, issues, (name, value) => this.#convert(name, value));
    refusePlaceholders('always');
    return issues.length > 0 ? issues : new Expression(checked, this);
  }

  #convert(name: string, value: Value): Value {
    const overload = this.findFunction(name)!.overloads.find(
      ({ args }) => args[0]!.kind === (typeof value === 'string' ? 'string' : 'int'),
    );
    return overload!.run!(value);
  }
}

function extendContent(content: Content, extension: Extension): Content {
  const objects = new Map(content.objects);
  for (const type of extension.declTypes ?? []) collectObjects(type, objects);
  return {
    functions: extension.functions ? mergeFunctions([...content.functions.values(), ...extension.functions]) : content.functions,
    macros: extension.macros ? [...content.macros, ...extension.macros] : content.macros,
    types: new Map([...content.types, ...(extension.types ?? []).map((type) => [type.name, type] as const)]),
    variables: new Map([...content.variables, ...Object.entries(extension.variables ?? {})]),
    objects,
    structs: extension.structs ? [...content.structs, extension.structs] : content.structs,
  };
}

/** A checked expression. */
export class Expression {
  constructor(
    readonly ast: CheckedAst,
    readonly environment: Environment,
  ) {}

  get outputType(): CelType {
    return this.ast.types.get(this.ast.expr.id)!;
  }

  /** Estimates the cost of an evaluation from the size bounds that `sizes` returns. */
  estimateCost(sizes: SizeEstimator): Interval {
    return estimateCost(this.ast, sizes);
  }

  /** Compiles the expression. Throws PlanError, whose message is meant for the user. */
  program(): Program {
    const evaluate = plan(this.ast, this.environment);
    refusePlaceholders('always');
    return new Program(evaluate);
  }
}

/** Result of an evaluation. */
export interface Outcome {
  /** The value; a CelError if the evaluation failed. */
  readonly value: Value;
  readonly cost: number;
}

/** A compiled expression, reusable for any number of evaluations. */
export class Program {
  readonly #evaluate: Evaluate;

  constructor(evaluate: Evaluate) {
    this.#evaluate = evaluate;
  }

  /**
   * Evaluates an expression whose authorizer may be asynchronous. Returns a promise only if the authorizer did not answer
   * synchronously, or a regular expression takes long. Never throws because of an expression or its data.
   */
  run(activation: Activation, limit = perCallLimit): Outcome | Promise<Outcome> {
    return settled(() => this.evaluate(activation, limit));
  }

  /**
   * Evaluates an expression synchronously; throws Suspended if an authorizer or another thread answers asynchronously. An evaluation
   * that costs more than `limit` returns an error.
   */
  evaluate(activation: Activation, limit = perCallLimit): Outcome {
    const outcome = this.#outcome(new Frame(activation, limit));
    refusePlaceholders();
    return outcome;
  }

  #outcome(frame: Frame): Outcome {
    try {
      return { value: this.#evaluate(frame), cost: frame.cost };
    } catch (error) {
      // JavaScript throws a RangeError for a string that is too long or data that is nested too deeply, which costs do not
      // cover.
      if (!(error instanceof CostLimitExceeded || error instanceof RangeError)) throw error;
      return { value: new CelError(new CostLimitExceeded().message), cost: frame.cost };
    }
  }
}

/** Creates an activation with known variables. */
export function activationOf(variables: Readonly<Record<string, Value>>): Activation {
  return { resolve: (name) => (Object.hasOwn(variables, name) ? variables[name] : undefined) };
}

export { PlanError };
