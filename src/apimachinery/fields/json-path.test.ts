import { describe, expect, it } from 'vitest';
import { JsonPath, JsonPathError } from './json-path.ts';

const object = {
  spec: {
    size: 3,
    'a.b': 'dotted',
    list: [
      { n: 1, type: 'A' },
      { n: 2, type: 'B' },
      { n: 3, type: 'C' },
    ],
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Other', status: 'False' },
    ],
  },
};

describe('JsonPath', () => {
  it.each<[string, unknown[]]>([
    ['.spec.size', [3]],
    ['.spec.missing', []],
    ['...spec.size', [3]],
    ['.spec.missing.deeper', []],
    [".spec['a\\.b']", ['dotted']],
    [".spec['a.b']", []],
    [".spec['size']", [3]],
    ['.spec.a\\.b', ['dotted']],
    ['.spec.list[0].n', [1]],
    ['.spec.list[-1].n', [3]],
    ['.spec.list[0:2].n', [1, 2]],
    ['.spec.list[9].n', []],
    ['.spec.list[0:9].n', []],
    ['.spec.list[0,9].n', []],
    ['.spec.list[2:1].n', []],
    ['.spec.list[3:3].n', []],
    ['.spec.list[-9].n', []],
    ['.spec.size[0]', []],
    ['.spec.list[*].n', [1, 2, 3]],
    ['.spec.list[?(@.n>1)].type', ['B', 'C']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    ['.status.conditions[?(@.type!="Ready")].status', ['False']],
    ['..n', [1, 2, 3]],
    ['.constructor', []],
  ])('%s', (path, found) => {
    expect(new JsonPath(path).find(object)).toEqual(found);
  });

  it.each(['.spec[', '....', '.spec.list[x]', '.spec["size"]', ".spec['a"])('rejects %s', (path) => {
    expect(() => new JsonPath(path)).toThrow(JsonPathError);
  });
});
