/**
 * Type checker: assigns a type to every node and a declaration to every name. Upstream: cel-go checker/checker.go,
 * errors.go.
 */
import {
  type Ast,
  type Comprehension,
  type Expr,
  type List,
  type MapLiteral,
  operators,
  qualifiedName,
  type Select,
  type Struct,
} from '../syntax/ast.ts';
import type { Issues } from '../syntax/source.ts';
import type { FunctionDeclaration, Overload } from './declarations.ts';
import { areAssignable, isAssignable, mostGeneral, Substitutions, substitute } from './type-inference.ts';
import {
  boolType,
  bytesType,
  CelType,
  doubleType,
  dynType,
  errorType,
  intType,
  isDyn,
  isExactType,
  isOptionalType,
  listType,
  mapType,
  nullType,
  optionalType,
  stringType,
  typeOfType,
  typeParam,
  uintType,
} from './types.ts';
import { Double, isInt, Uint, type Value } from '../runtime/values.ts';

/** The names that a checker can resolve. */
export interface CheckerScope {
  /** Returns the type of a variable. */
  findVariable(name: string): CelType | undefined;
  /** Returns a named type, scalar (`int`) or struct. */
  findType(name: string): CelType | undefined;
  findFunction(name: string): FunctionDeclaration | undefined;
  /** True if the struct type is declared with its fields; the types of the libraries have none. */
  hasStruct(typeName: string): boolean;
  findField(typeName: string, field: string): CelType | undefined;
}

/**
 * A tree with resolved names: a select that names a variable has become an identifier, and a qualified call has lost its
 * target.
 */
export interface CheckedAst extends Ast {
  readonly types: ReadonlyMap<number, CelType>;
  /** Candidate overloads of each call, by the call's id. */
  readonly overloads: ReadonlyMap<number, readonly Overload[]>;
  /** Types of the identifiers that name a type, by id. */
  readonly typeNames: ReadonlyMap<number, CelType>;
}

/** Checks a tree in place. The result is valid only if no issue was reported. */
export function check(ast: Ast, scope: CheckerScope, issues: Issues): CheckedAst {
  const checker = new Checker(ast, scope, issues);
  checker.check(ast.expr);
  return checker.finish();
}

type Scope = ReadonlyMap<string, CelType>;

class Checker {
  readonly #types = new Map<number, CelType>();
  readonly #overloads = new Map<number, readonly Overload[]>();
  readonly #typeNames = new Map<number, CelType>();
  readonly #substitutions = new Substitutions();
  readonly #scopes: Scope[] = [];
  #freeTypeParams = 0;

  constructor(
    readonly ast: Ast,
    readonly scope: CheckerScope,
    readonly issues: Issues,
  ) {}

  finish(): CheckedAst {
    const types = new Map<number, CelType>();
    for (const [id, type] of this.#types) types.set(id, substitute(this.#substitutions, type, true));
    return { ...this.ast, types, overloads: this.#overloads, typeNames: this.#typeNames };
  }

  check(expr: Expr): void {
    const { node } = expr;
    switch (node.kind) {
      case 'literal':
        return this.#setType(expr, literalType(node.value));
      case 'ident':
        return this.#checkIdent(expr, node.name);
      case 'select':
        return this.#checkSelect(expr, node);
      case 'call':
        return this.#checkCall(expr);
      case 'list':
        return this.#checkList(expr, node);
      case 'map':
        return this.#checkMap(expr, node);
      case 'struct':
        return this.#checkStruct(expr, node);
      case 'comprehension':
        return this.#checkComprehension(expr, node);
      case 'unspecified':
        return this.#setType(expr, errorType);
    }
  }

  #report(id: number, message: string): void {
    this.issues.report(message, this.ast.offsets.get(id));
  }

  #setType(expr: Expr, type: CelType): void {
    this.#types.set(expr.id, type);
  }

  #typeOf(expr: Expr): CelType {
    return this.#types.get(expr.id) ?? errorType;
  }

  #resolved(type: CelType): CelType {
    return substitute(this.#substitutions, type, false);
  }

  #isAssignable(type1: CelType, type2: CelType): boolean {
    return this.#substitutions.attempt(() => isAssignable(this.#substitutions, type1, type2));
  }

  #newTypeParam(): CelType {
    return typeParam(`_var${this.#freeTypeParams++}`);
  }

  #undeclared(expr: Expr, name: string): void {
    this.#setType(expr, errorType);
    this.#report(expr.id, `undeclared reference to '${name}' (in container '')`);
  }

  #mismatch(expr: Expr, expected: CelType, actual: CelType): void {
    this.#report(expr.id, `expected type '${expected}' but found '${actual}'`);
  }

  /** Resolves a name to a variable or a type. Returns false if it is neither. */
  #resolveName(expr: Expr, name: string): boolean {
    const bare = name.startsWith('.') ? name.slice(1) : name;
    const variable = this.#findVariable(bare);
    if (!variable) {
      const type = this.scope.findType(bare);
      if (!type) return false;
      this.#typeNames.set(expr.id, type);
      this.#setType(expr, typeOfType(type));
    } else {
      this.#setType(expr, variable);
    }
    expr.node = { kind: 'ident', name: bare };
    return true;
  }

  #findVariable(name: string): CelType | undefined {
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const type = this.#scopes[i]!.get(name);
      if (type) return type;
    }
    return this.scope.findVariable(name);
  }

  #checkIdent(expr: Expr, name: string): void {
    if (!this.#resolveName(expr, name)) this.#undeclared(expr, name);
  }

  #checkSelect(expr: Expr, node: Select): void {
    const name = qualifiedName(expr);
    if (name !== undefined && this.#resolveName(expr, name)) return;
    const type = this.#selectedType(expr, node.operand, node.field, false);
    this.#setType(expr, node.testOnly ? boolType : this.#resolved(type));
  }

  #selectedType(expr: Expr, operand: Expr, field: string, optional: boolean): CelType {
    this.check(operand);
    const operandType = this.#resolved(this.#typeOf(operand));
    const target = unwrapOptional(operandType);
    const type = this.#fieldType(expr.id, target ?? operandType, field);
    return target || optional ? optionalType(type) : type;
  }

  #fieldType(id: number, target: CelType, field: string): CelType {
    switch (target.kind) {
      case 'map':
        return target.parameters[1]!;
      case 'struct':
        return this.#lookUpField(id, target.name, field) ?? errorType;
      case 'typeParam':
        this.#isAssignable(dynType, target);
        return dynType;
      default:
        if (!isDynOrError(target)) this.#report(id, `type '${target}' does not support field selection`);
        return dynType;
    }
  }

  #lookUpField(id: number, typeName: string, field: string): CelType | undefined {
    if (!this.scope.hasStruct(typeName)) {
      this.#report(id, `unexpected failed resolution of '${typeName}'`);
      return undefined;
    }
    const type = this.scope.findField(typeName, field);
    if (!type) this.#report(id, `undefined field '${field}'`);
    return type;
  }

  #checkCall(expr: Expr): void {
    const node = expr.node as Extract<Expr['node'], { kind: 'call' }>;
    if (node.function === operators.optSelect && !node.target) {
      const field = node.args[1]!.node;
      // The parser generates this call, always with a literal field name.
      const name = field.kind === 'literal' ? String(field.value) : '';
      this.#setType(expr, this.#resolved(this.#selectedType(expr, node.args[0]!, name, true)));
      this.#overloads.set(expr.id, this.scope.findFunction(node.function)!.overloads);
      return;
    }
    for (const arg of node.args) this.check(arg);
    if (!node.target) {
      const bare = node.function.startsWith('.') ? node.function.slice(1) : node.function;
      const declaration = this.scope.findFunction(bare);
      if (!declaration) return this.#undeclared(expr, node.function);
      expr.node = { ...node, function: declaration.name };
      return this.#resolveCall(expr, declaration, undefined, node.args);
    }
    const prefix = qualifiedName(node.target);
    const qualified = prefix === undefined ? undefined : this.scope.findFunction(`${prefix}.${node.function}`);
    if (qualified) {
      expr.node = { ...node, function: qualified.name, target: undefined };
      return this.#resolveCall(expr, qualified, undefined, node.args);
    }
    this.check(node.target);
    const declaration = this.scope.findFunction(node.function);
    if (!declaration) return this.#undeclared(expr, node.function);
    this.#resolveCall(expr, declaration, node.target, node.args);
  }

  #resolveCall(expr: Expr, declaration: FunctionDeclaration, target: Expr | undefined, args: readonly Expr[]): void {
    const type = isLogical(declaration.name)
      ? this.#resolveLogical(expr, declaration, args)
      : this.#resolveOverloads(expr, declaration, target !== undefined, target ? [target, ...args] : args);
    this.#setType(expr, type ?? errorType);
  }

  #resolveLogical(expr: Expr, declaration: FunctionDeclaration, args: readonly Expr[]): CelType | undefined {
    let wrong = false;
    for (const arg of args) {
      const type = this.#typeOf(arg);
      if (this.#isAssignable(type, boolType)) continue;
      this.#mismatch(arg, boolType, type);
      wrong = true;
    }
    if (wrong) return undefined;
    this.#overloads.set(expr.id, declaration.overloads);
    return boolType;
  }

  #resolveOverloads(expr: Expr, declaration: FunctionDeclaration, isMember: boolean, args: readonly Expr[]): CelType | undefined {
    const argTypes = args.map((arg) => this.#typeOf(arg));
    const matching: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of declaration.overloads) {
      if (overload.member !== isMember) continue;
      const instance = this.#instantiate(overload);
      if (!this.#substitutions.attempt(() => areAssignable(this.#substitutions, argTypes, instance.args))) continue;
      matching.push(overload);
      const type = this.#resolved(instance.result);
      if (!result) result = type;
      else if (!isDyn(result) && !isExactType(type, result)) result = dynType;
    }
    if (result) {
      this.#overloads.set(expr.id, matching);
      return result;
    }
    const shown = argTypes.map((type) => substitute(this.#substitutions, type, true));
    const signature = isMember ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`;
    this.#report(expr.id, `found no matching overload for '${declaration.name}' applied to '${signature}'`);
    return undefined;
  }

  /** Instantiates an overload with fresh type parameters. */
  #instantiate(overload: Overload): { args: readonly CelType[]; result: CelType } {
    const fresh = new Map<string, CelType>();
    const rename = (type: CelType): CelType => {
      if (type.kind === 'typeParam') {
        const known = fresh.get(type.name) ?? this.#newTypeParam();
        fresh.set(type.name, known);
        return known;
      }
      return type.parameters.length === 0 ? type : new CelType(type.kind, type.name, type.parameters.map(rename));
    };
    return { args: overload.args.map(rename), result: rename(overload.result) };
  }

  /** Returns the type of an element; after a `?` the element must be an optional. */
  #elementType(element: Expr, optional: boolean): CelType {
    const type = this.#typeOf(element);
    if (!optional) return type;
    const inner = unwrapOptional(type);
    if (!inner && !isDyn(type)) this.#mismatch(element, optionalType(type), type);
    return inner ?? type;
  }

  /** Joins the types of two elements. Mixed types are reported later, because arguments of a format may be mixed. */
  #join(previous: CelType | undefined, current: CelType): CelType {
    if (!previous) return current;
    return this.#isAssignable(previous, current) ? mostGeneral(previous, current) : dynType;
  }

  #checkList(expr: Expr, node: List): void {
    let type: CelType | undefined;
    for (const [index, element] of node.elements.entries()) {
      this.check(element);
      type = this.#join(type, this.#elementType(element, node.optionals.has(index)));
    }
    this.#setType(expr, listType(type ?? this.#newTypeParam()));
  }

  #checkMap(expr: Expr, node: MapLiteral): void {
    let keyType: CelType | undefined;
    let valueType: CelType | undefined;
    for (const { key, value, optional } of node.entries) {
      this.check(key);
      keyType = this.#join(keyType, this.#typeOf(key));
      this.check(value);
      valueType = this.#join(valueType, this.#elementType(value, optional));
    }
    this.#setType(expr, mapType(keyType ?? this.#newTypeParam(), valueType ?? this.#newTypeParam()));
  }

  #checkStruct(expr: Expr, node: Struct): void {
    const name = node.typeName.startsWith('.') ? node.typeName.slice(1) : node.typeName;
    const type = this.scope.findType(name);
    if (!type) {
      const variable = this.#findVariable(name);
      if (!variable) return this.#undeclared(expr, node.typeName);
      this.#report(expr.id, `'${variable.name}' is not a type`);
    } else if (type.kind !== 'struct') {
      this.#report(expr.id, `'${type.name}' is not a message type`);
    }
    expr.node = { ...node, typeName: name };
    this.#setType(expr, type?.kind === 'struct' ? type : errorType);
    for (const field of node.fields) {
      this.check(field.value);
      const fieldType = this.#lookUpField(field.id, name, field.name) ?? errorType;
      const valueType = this.#elementType(field.value, field.optional);
      if (!this.#isAssignable(fieldType, valueType)) {
        this.#report(field.id, `expected type of field '${field.name}' is '${fieldType}' but provided type is '${valueType}'`);
      }
    }
  }

  #checkComprehension(expr: Expr, node: Comprehension): void {
    this.check(node.iterRange);
    this.check(node.accuInit);
    const rangeType = this.#resolved(this.#typeOf(node.iterRange));
    const accuType = this.#typeOf(node.accuInit);
    this.#scopes.push(new Map([[node.accuVar, accuType]]));
    this.#scopes.push(this.#iterationScope(node, rangeType));
    this.check(node.loopCondition);
    this.#assertType(node.loopCondition, boolType);
    this.check(node.loopStep);
    this.#assertType(node.loopStep, accuType);
    this.#scopes.pop();
    this.check(node.result);
    this.#scopes.pop();
    this.#setType(expr, this.#resolved(this.#typeOf(node.result)));
  }

  #iterationScope(node: Comprehension, range: CelType): Scope {
    const [first, second] = this.#iterationTypes(node, range);
    const scope = new Map([[node.iterVar, first]]);
    if (node.iterVar2 !== undefined) scope.set(node.iterVar2, second);
    return scope;
  }

  #iterationTypes(node: Comprehension, range: CelType): [CelType, CelType] {
    switch (range.kind) {
      case 'list':
        return [node.iterVar2 === undefined ? range.parameters[0]! : intType, range.parameters[0]!];
      case 'map':
        return [range.parameters[0]!, range.parameters[1]!];
      case 'dyn':
      case 'error':
      case 'typeParam':
        this.#isAssignable(dynType, range);
        return [dynType, dynType];
      default:
        this.#report(node.iterRange.id, `expression of type '${range}' cannot be range of a comprehension (must be list, map, or dynamic)`);
        return [errorType, errorType];
    }
  }

  #assertType(expr: Expr, type: CelType): void {
    if (!this.#isAssignable(type, this.#typeOf(expr))) this.#mismatch(expr, type, this.#typeOf(expr));
  }
}

function isLogical(name: string): boolean {
  return name === operators.logicalAnd || name === operators.logicalOr;
}

function isDynOrError(type: CelType): boolean {
  return type.kind === 'error' || isDyn(type);
}

/** Returns the type inside an optional; undefined if it is not an optional. */
function unwrapOptional(type: CelType): CelType | undefined {
  return isOptionalType(type) ? type.parameters[0] : undefined;
}

function literalType(value: Value): CelType {
  if (typeof value === 'boolean') return boolType;
  if (value === null) return nullType;
  if (typeof value === 'string') return stringType;
  if (isInt(value)) return intType;
  if (value instanceof Double) return doubleType;
  return value instanceof Uint ? uintType : bytesType;
}
