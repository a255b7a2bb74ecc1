import { expect, it } from 'vitest';
import { parseYaml } from './parse-yaml.ts';

const manyKeys = Array.from({ length: 30_000 }, (_, i) => `k${i}: v\n`).join('');

it.each([
  [
    'an unterminated flow map',
    'a: [{b: c}\n',
    'Flow sequence in block collection must be sufficiently indented and end with a ] at line 2, column 1',
  ],
  ['broken JSON', '{"a": [}', 'Flow sequence in block collection must be sufficiently indented and end with a ] at line 1, column 8'],
  ['a tab', 'a:\n- b: c\n\td: e\n', 'Tabs are not allowed as indentation at line 3, column 1'],
  ['megabytes of open lists', 'a: ['.repeat(1_000_000), 'yaml: exceeded max depth of 10000'],
  ['a key of many twice', `${manyKeys}k7: w\n`, expect.stringMatching(/^yaml: unmarshal errors: line 30001: key "k7" already set in map$/)],
])('reports %s in one line', (_, text, message) => {
  expect(() => parseYaml(text)).toThrow(expect.objectContaining({ message }));
});

it('reads many keys in linear time', { timeout: 10_000 }, () => {
  expect(Object.keys(parseYaml(manyKeys) as object)).toHaveLength(30_000);
});

it('reads YAML 1.1 and JSON', () => {
  expect([parseYaml('a: yes'), parseYaml('{"a": "yes"}')]).toEqual([{ a: true }, { a: 'yes' }]);
});
