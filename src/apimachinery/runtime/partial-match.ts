import { isJsonObject } from '../patch/own-property.ts';

/**
 * Returns where a JSON value lacks what a partial one expects, one line each (`spec.replicas: expected 2, got 1`); empty if it matches.
 *
 * | expected          | matches                                                 |
 * | ----------------- | ------------------------------------------------------- |
 * | an object         | an object whose members of these names match            |
 * | a list            | a list of the same length whose items match             |
 * | null or undefined | null, or an absent member                               |
 * | any other value   | the same value                                          |
 */
export function mismatches(expected: unknown, actual: unknown, path = ''): string[] {
  if (expected === null || expected === undefined) return actual === null || actual === undefined ? [] : [line(path, 'nothing', actual)];
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [line(path, shown(expected), actual)];
    if (actual.length !== expected.length) return [line(path, `${expected.length} items ${shown(expected)}`, actual)];
    return expected.flatMap((item, i) => mismatches(item, actual[i], `${path}[${i}]`));
  }
  if (isJsonObject(expected)) {
    if (!isJsonObject(actual)) return [line(path, shown(expected), actual)];
    return Object.entries(expected).flatMap(([name, value]) => {
      const member = Object.hasOwn(actual, name) ? actual[name] : undefined;
      return mismatches(value, member, memberPath(path, name));
    });
  }
  return Object.is(expected, actual) ? [] : [line(path, shown(expected), actual)];
}

function memberPath(path: string, name: string): string {
  if (!/^[\w-]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

function line(path: string, expected: string, actual: unknown): string {
  return `${path === '' ? 'the value' : path}: expected ${expected}, got ${shown(actual)}`;
}

function shown(value: unknown): string {
  return value === null || value === undefined ? 'nothing' : JSON.stringify(value);
}
