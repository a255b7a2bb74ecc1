/** Declarations of functions and variables. Upstream: cel-go common/decls. */
import type { Value } from '../runtime/values.ts';
import type { CelType } from './types.ts';

/** One signature of a function. The types of its arguments are checked before `run` is called. */
export interface Overload {
  /** Name of the overload in cel-go; the key of its cost. */
  readonly id: string;
  /** True for calls of the form `target.name(…)`; the target is the first argument. */
  readonly member: boolean;
  readonly args: readonly CelType[];
  readonly result: CelType;
  /**
   * Implementation. Never receives an error as an argument, and returns a CelError instead of throwing one. Absent if the
   * planner implements the overload.
   */
  run?(...args: Value[]): Value;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /**
   * Implementation shared by all overloads: it receives arguments of any type and returns an error for unsupported ones.
   * Upstream: singleton bindings.
   */
  readonly run?: ((...args: Value[]) => Value) | undefined;
}

/** Merges declarations of the same function into the union of their overloads. */
export function mergeFunctions(declarations: Iterable<FunctionDeclaration>): Map<string, FunctionDeclaration> {
  const functions = new Map<string, FunctionDeclaration>();
  for (const declaration of declarations) {
    const known = functions.get(declaration.name);
    if (!known) {
      functions.set(declaration.name, declaration);
      continue;
    }
    const ids = new Set(declaration.overloads.map(({ id }) => id));
    const overloads = [...known.overloads.filter(({ id }) => !ids.has(id)), ...declaration.overloads];
    functions.set(declaration.name, { name: declaration.name, overloads, run: known.run ?? declaration.run });
  }
  return functions;
}

export function func(name: string, ...overloads: readonly Overload[]): FunctionDeclaration {
  return { name, overloads };
}

/** Declares an overload of a global function. */
export function global(id: string, args: readonly CelType[], result: CelType, run?: Overload['run']): Overload {
  return { id, member: false, args, result, ...(run && { run }) };
}

/** Declares an overload of a member function. */
export function member(id: string, args: readonly CelType[], result: CelType, run?: Overload['run']): Overload {
  return { id, member: true, args, result, ...(run && { run }) };
}
