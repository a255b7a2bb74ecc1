import { describe, expect, it } from 'vitest';
import { type FieldError, type Path, fieldPath, invalid, required } from './field.ts';
import { checkEach, errorsOfEach, validatingSteps } from './pausing.ts';

const numbers = Array.from({ length: 2_000 }, (_, i) => i);

/** Consumes CPU time, which is limited per chunk. */
function work(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

/** Returns the result of a validation, and its number of chunks. */
function inSteps<T>(validation: () => T): { readonly value: T; readonly steps: number } {
  const steps = validatingSteps(validation);
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done) return { value: step.value, steps: count };
  }
}

const messages = (errors: readonly FieldError[]) => errors.map(String);

/** A slow check; only the last item is invalid. */
const findLast = (items: readonly number[], path: Path): FieldError[] =>
  errorsOfEach(items, path, items, (errors, number) => {
    work(0.01);
    if (number === 1_999) errors.push(invalid(path, number, 'is the last'));
  });

describe('a chunked validation finds the same errors as a synchronous one', () => {
  const path = fieldPath('list');

  it('with loops over one container, distinguished by their paths', () => {
    const validate = (): FieldError[] =>
      ['a', 'b'].flatMap((name) =>
        errorsOfEach(numbers, path.child(name), numbers, (errors, number, index) => {
          work(0.01);
          if (number % 7 === 0) errors.push(invalid(path.child(name).index(index), number, 'is divisible'));
        }),
      );
    const { value, steps } = inSteps(validate);
    expect(messages(value)).toEqual(messages(validate()));
    expect(steps).toBeGreaterThan(3);
  });

  it('with state, and nested loops', () => {
    const lists = Array.from({ length: 20 }, (_, i) => ({ name: `n${i % 15}`, items: numbers.slice(0, 300) }));
    const validate = (): FieldError[] => {
      const { errors, state } = checkEach(
        lists,
        path,
        lists,
        () => new Set<string>(),
        (found, { name, items }, index, names) => {
          found.push(required(path.index(index).child('first')));
          const inner = errorsOfEach(items, path.index(index), items, (wrong, item) => {
            work(0.01);
            if (item % 100 === 0) wrong.push(invalid(path.index(index), item, 'is divisible'));
          });
          found.push(...inner);
          if (names.has(name)) found.push(invalid(path.index(index), name, 'is there twice'));
          names.add(name);
        },
      );
      return [...errors, invalid(path, state.size, 'names')];
    };
    const { value, steps } = inSteps(validate);
    expect(messages(value)).toEqual(messages(validate()));
    expect(messages(value).filter((message) => message.includes('twice'))).toHaveLength(5);
    expect(steps).toBeGreaterThan(3);
  });

  it('if the part before its loops takes longer than a chunk', () => {
    const validate = (): FieldError[] => {
      work(10);
      return findLast(numbers, path);
    };
    const { value, steps } = inSteps(validate);
    expect(messages(value)).toEqual(messages(validate()));
    expect(steps).toBeLessThan(20);
  });

  it('if it adds to the errors of a loop', () => {
    const slow = (errors: FieldError[]): void => {
      work(0.01);
      if (errors.length === 0) errors.push(required(path));
    };
    const validate = (): FieldError[] => {
      const errors = errorsOfEach(numbers, path.child('a'), numbers.slice(0, 200), slow);
      errors.push(required(path.child('own')));
      return [...errors, ...errorsOfEach(numbers, path.child('b'), numbers, slow)];
    };
    expect(messages(inSteps(validate).value)).toEqual(messages(validate()));
  });

  it('if it recreates its container', () => {
    const validate = (): FieldError[] => findLast([...numbers], path);
    const { value, steps } = inSteps(validate);
    expect(messages(value)).toEqual(messages(validate()));
    expect(steps).toBe(2);
  });

  it('including exceptions', () => {
    const validate = (): FieldError[] =>
      errorsOfEach(numbers, path, numbers, (_errors, number) => {
        if (number === 1_500) throw new Error('too many');
      });
    expect(() => inSteps(validate)).toThrow('too many');
    // No state remains for the next validation.
    expect(inSteps(() => errorsOfEach(numbers, path, numbers.slice(0, 3), (errors) => errors.push(required(path)))).value).toHaveLength(3);
  });
});
