import type { FieldsV1 } from '#apimachinery/meta/types';
import { isEmptyObject, setOwn } from '#apimachinery/patch/own-property';
import type { Steps } from '#apimachinery/runtime/steps';
import { noteKeys } from '#apimachinery/runtime/wide-objects';
import type { PathElement } from './path-element.ts';

export type Json = Record<string, unknown>;

/** Number of values that are visited at once. A map or list with more of them below it is divided. */
export const stepKeys = 1_024;

/** Returns the number of members of a map or list that together have as many values below them as are visited at once. */
export const membersPerStep = (members: number, values: number): number => Math.max(1, Math.floor((stepKeys * members) / values));

/** Maps and lists with results in use. They are not empty; finding that out takes as long as listing their many keys. */
let wide: ReadonlyMap<object, unknown> | undefined;

export function isEmptyValue(value: object): boolean {
  return !wide?.has(value) && isEmptyObject(value);
}

/** Results for wide maps and long lists, by map or list. They are computed in chunks before the result for the whole value. */
export class WideResults<R> {
  /** The results in use; undefined between the calls of `during`, because other work runs there. */
  current: ReadonlyMap<object, R> | undefined;

  /** Uses results during a synchronous work. */
  during<T>(results: ReadonlyMap<object, R>, work: () => T): T {
    this.current = results;
    wide = results;
    try {
      return work();
    } finally {
      this.current = undefined;
      wide = undefined;
    }
  }

  /** Uses results during each chunk of a work. */
  *duringSteps<T>(results: ReadonlyMap<object, R>, steps: Steps<T>): Steps<T> {
    for (;;) {
      const step = this.during(results, () => steps.next());
      if (step.done) return step.value;
      yield;
    }
  }
}

/** A node that is merged from nodes with disjoint children. */
export class NodeParts {
  readonly #node: FieldsV1 = {};
  readonly #elements: PathElement[] = [];

  add(part: FieldsV1): void {
    // Several parts may mark the path itself as a member.
    for (const element of Object.keys(part)) if (this.#node[element] === undefined) this.#elements.push(element);
    Object.assign(this.#node, part);
  }

  /** Returns undefined if there were no parts. */
  whole(): FieldsV1 | undefined {
    return this.#elements.length > 0 ? noteKeys(this.#node, this.#elements) : undefined;
  }
}

/** Returns the members of a map with the names. */
export function pick(map: Json, names: readonly string[]): Json {
  const some: Json = {};
  for (const name of names) if (Object.hasOwn(map, name)) setOwn(some, name, map[name]);
  return some;
}
