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
    ['.spec.list[].n', [1]],
    ['.spec.list[:].n', [1, 2, 3]],
    ['.spec.list[::].n', [1, 2, 3]],
    ['.spec.list[::2].n', [1, 3]],
    ['.spec.list[::0].n', []],
    ['.spec.list[0:2:-1].n', []],
    ['.spec.list[-1:0].n', []],
    ['.spec.list[0, 1 ].n', [1, 2]],
    ['.spec[*]', []],
    ['.spec.', []],
    ['.', []],
    ['.spec.list [0].n', [1]],
    ['.spec.list[0]n', []],
    ['.spec.list[?(@.n==1.0)].type', []],
    ['.spec.list[?(@.n==1)].type', ['A']],
    ['.spec.list[?(@.n<"1")].type', []],
    ['.spec.list[?(@.type<"C")].n', [1, 2]],
    ['.spec.list[?( @.type == "A" )].n', [1]],
    ['.spec.list[?("A"==@.type)].n', [1]],
    ['.spec.list[?(@.type==")]")].n', []],
    ['.spec.list[?(@.type=="C")].n', [3]],
    ['.spec.list[?(@.none)].n', []],
    ['.spec.list[?(@.n[0])].n', [1, 2, 3]],
    ['.spec[?(@.n==1)]', []],
    ['.spec.size}.rest', [3]],
  ])('%s', (path, found) => {
    expect(new JsonPath(path).find(object)).toEqual(found);
  });

  it.each([
    '.spec[ 0 ]',
    '.spec[-]',
    ".spec[ 'a' ]",
    ".spec['a,b']",
    '.spec[+1]',
    '.spec.size,',
    '.spec{',
    '*',
    '.spec.list[?(@.n==1]',
    '.spec.list[?(@.n==1)',
    '.spec.list[?(@.n==1 && @.n==2)]',
    '.spec[',
    '....',
    '.spec.list[x]',
    '.spec["size"]',
    ".spec['a",
  ])('rejects %s', (path) => {
    expect(() => new JsonPath(path)).toThrow(JsonPathError);
  });
});

describe('a path that multiplies values', () => {
  let nested: unknown = 'x';
  for (let depth = 0; depth < 100; depth += 1) nested = { a: nested };
  const doubled = (times: number): string => "['a','a']".repeat(times);

  it.each([
    { name: 'unions', path: doubled(60) },
    { name: 'a long union', path: `[${"'a',".repeat(300_000)}'a']` },
    { name: 'descents', path: '..[*]'.repeat(20) },
    { name: 'unions in a filter', path: `.list[?(@${doubled(60)})]` },
    { name: 'unions that a filter compares', path: `.list[?(@${doubled(60)}==1)]` },
  ])('finds nothing: $name', ({ path }) => {
    expect(new JsonPath(path).find({ a: nested, list: Array.from({ length: 1_000 }, () => nested) })).toEqual([]);
  });

  it('finds some', () => {
    expect(new JsonPath(doubled(3)).find({ a: { a: { a: 1 } } })).toEqual(Array.from({ length: 8 }, () => 1));
  });

  it('finds the values of a long list', () => {
    const list = Array.from({ length: 50_000 }, (_, n) => ({ n }));
    expect(new JsonPath('.list[*].n').find({ list })).toHaveLength(50_000);
  });
});
