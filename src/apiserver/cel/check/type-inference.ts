/** Assignability of types with type parameters. Upstream: cel-go checker/types.go, mapping.go. */
import { CelType, dynType, isDyn, isExactType } from './types.ts';

/** Bindings of type parameters by name. `attempt` rolls back failed attempts. */
export class Substitutions {
  readonly #types = new Map<string, CelType>();
  /** Previous bindings that the current attempt has overwritten. */
  #trail: [string, CelType | undefined][] | undefined;

  find(type: CelType): CelType | undefined {
    return type.kind === 'typeParam' ? this.#types.get(type.name) : undefined;
  }

  add(parameter: CelType, type: CelType): void {
    this.#trail?.push([parameter.name, this.#types.get(parameter.name)]);
    this.#types.set(parameter.name, type);
  }

  /** Runs a function that may bind parameters. If it returns false, its bindings are rolled back. */
  attempt(run: () => boolean): boolean {
    const trail: [string, CelType | undefined][] = [];
    this.#trail = trail;
    const done = run();
    this.#trail = undefined;
    if (!done) {
      for (const [name, type] of trail.reverse()) {
        if (type) this.#types.set(name, type);
        else this.#types.delete(name);
      }
    }
    return done;
  }
}

/**
 * True if a value of `type2` can be used where `type1` is expected. Binds type parameters; wrap it in
 * `Substitutions.attempt`.
 */
export function isAssignable(substitutions: Substitutions, type1: CelType, type2: CelType): boolean {
  if (type2.kind === 'typeParam') {
    const outcome = bindParameter(substitutions, type1, type2);
    if (outcome.valid) return true;
    if (outcome.bound) return false;
  }
  if (type1.kind === 'typeParam') return bindParameter(substitutions, type2, type1).valid;
  if (isDynOrError(type1) || isDynOrError(type2)) return true;
  if (type1.kind === 'null') return isNullable(type2);
  if (type2.kind === 'null') return isNullable(type1);
  switch (type1.kind) {
    case 'type':
      return type2.kind === 'type';
    case 'opaque':
    case 'list':
    case 'map':
      return type1.kind === type2.kind && type1.name === type2.name && areAssignable(substitutions, type1.parameters, type2.parameters);
    default:
      return type1.kind === type2.kind && type1.name === type2.name;
  }
}

export function areAssignable(substitutions: Substitutions, types1: readonly CelType[], types2: readonly CelType[]): boolean {
  return types1.length === types2.length && types1.every((type, index) => isAssignable(substitutions, type, types2[index]!));
}

function isDynOrError(type: CelType): boolean {
  return type.kind === 'error' || isDyn(type);
}

function isNullable(type: CelType): boolean {
  return ['opaque', 'struct', 'any', 'duration', 'timestamp', 'null'].includes(type.kind);
}

function bindParameter(substitutions: Substitutions, type: CelType, parameter: CelType): { valid: boolean; bound: boolean } {
  if (isExactType(type, parameter)) return { valid: true, bound: true };
  const current = substitutions.find(parameter);
  if (current) {
    if (isExactType(type, current)) return { valid: true, bound: true };
    if (!isAssignable(substitutions, type, current)) return { valid: false, bound: true };
    const general = mostGeneral(type, current);
    if (!refersTo(substitutions, parameter, general)) substitutions.add(parameter, general);
    return { valid: true, bound: true };
  }
  if (refersTo(substitutions, parameter, type)) return { valid: false, bound: false };
  substitutions.add(parameter, type);
  return { valid: true, bound: false };
}

export function mostGeneral(type1: CelType, type2: CelType): CelType {
  return isEqualOrLessSpecific(type1, type2) ? type1 : type2;
}

function isEqualOrLessSpecific(type1: CelType, type2: CelType): boolean {
  if (isDyn(type1) || type1.kind === 'typeParam') return true;
  if (isDyn(type2) || type2.kind === 'typeParam' || type1.kind !== type2.kind) return false;
  switch (type1.kind) {
    case 'type':
      return true;
    case 'opaque':
    case 'list':
    case 'map':
      return (
        type1.name === type2.name &&
        type1.parameters.length === type2.parameters.length &&
        type1.parameters.every((parameter, index) => isEqualOrLessSpecific(parameter, type2.parameters[index]!))
      );
    default:
      return isExactType(type1, type2);
  }
}

/** True if `type` contains `parameter`, which therefore must not be bound to it. */
function refersTo(substitutions: Substitutions, parameter: CelType, type: CelType): boolean {
  if (isExactType(parameter, type)) return true;
  if (type.kind === 'typeParam') {
    const bound = substitutions.find(type);
    return bound !== undefined && refersTo(substitutions, parameter, bound);
  }
  return type.parameters.some((inner) => refersTo(substitutions, parameter, inner));
}

/** Replaces the bound parameters of a type; with `unboundToDyn` the unbound ones become dyn. */
export function substitute(substitutions: Substitutions, type: CelType, unboundToDyn: boolean): CelType {
  const bound = substitutions.find(type);
  if (bound) return substitute(substitutions, bound, unboundToDyn);
  if (type.kind === 'typeParam') return unboundToDyn ? dynType : type;
  if (type.parameters.length === 0) return type;
  const parameters = type.parameters.map((parameter) => substitute(substitutions, parameter, unboundToDyn));
  return parameters.every((parameter, index) => parameter === type.parameters[index])
    ? type
    : new CelType(type.kind, type.name, parameters);
}
