import { describe, expect, it } from 'vitest';
import { recognizeCopies } from './class-copies.ts';

/** Returns new classes, as another copy of their module has them. */
function copy() {
  class Base extends Error {}
  recognizeCopies(Base);
  class Derived extends Base {}
  class Other extends Base {}
  class Unmarked extends Error {}
  return { Base, Derived, Other, Unmarked };
}

describe('an instance of a class of another copy', () => {
  const own = copy();
  const other = copy();

  it.each([
    ['the class', new other.Base(), own.Base, true],
    ['the class of a subclass', new other.Derived(), own.Base, true],
    ['the subclass of the same name', new other.Derived(), own.Derived, true],
    ['another subclass', new other.Other(), own.Derived, false],
    ['a subclass, as an instance of the class', new other.Base(), own.Derived, false],
    ['a class that is not marked', new other.Unmarked(), own.Unmarked, false],
  ])('is judged by its name: %s', (_, value, type, expected) => {
    expect(value instanceof type).toBe(expected);
  });

  it.each([[undefined], [null], ['Base'], [{}], [new Error('Base')], [Object.create(null)]])('is not %s', (value) => {
    expect((value as unknown) instanceof own.Base).toBe(false);
  });
});
