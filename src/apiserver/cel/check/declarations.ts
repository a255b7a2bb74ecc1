/** Functions and variables that expressions may use. Upstream: cel-go common/decls. */
import type { Value } from '../runtime/values.ts';
import type { CelType } from './types.ts';

/** One signature of a function. The types of its arguments are checked before `run`. */
export interface Overload {
  /** As cel-go names it; costs go by it. */
  readonly id: string;
  /** Whether it is called `target.name(…)`; the target is the first argument. */
  readonly member: boolean;
  readonly args: readonly CelType[];
  readonly result: CelType;
  /** Never gets an error as an argument; returns a CelError rather than throwing one. Absent where the planner has its own code. */
  run?(...args: Value[]): Value;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /**
   * If given, all overloads share this code: it gets whatever the arguments turn out to be and returns an error for what it cannot do. Upstream:
   * singleton bindings.
   */
  readonly run?: ((...args: Value[]) => Value) | undefined;
}

/** A function with several declarations is the union of their overloads. */
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

/** A signature of a global function. */
export function global(id: string, args: readonly CelType[], result: CelType, run?: Overload['run']): Overload {
  return { id, member: false, args, result, ...(run && { run }) };
}

/** A signature of a member function. */
export function member(id: string, args: readonly CelType[], result: CelType, run?: Overload['run']): Overload {
  return { id, member: true, args, result, ...(run && { run }) };
}
