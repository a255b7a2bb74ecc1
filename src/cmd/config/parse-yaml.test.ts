import { expect, it } from 'vitest';
import { parseYaml } from './parse-yaml.ts';

it.each([
  [
    'an unterminated flow map',
    'a: [{b: c}\n',
    'Flow sequence in block collection must be sufficiently indented and end with a ] at line 2, column 1',
  ],
  ['broken JSON', '{"a": [}', 'Flow sequence in block collection must be sufficiently indented and end with a ] at line 1, column 8'],
  ['a tab', 'a:\n- b: c\n\td: e\n', 'Tabs are not allowed as indentation at line 3, column 1'],
])('reports %s in one line', (_, text, message) => {
  expect(() => parseYaml(text)).toThrow(expect.objectContaining({ message }));
});

it('reads YAML 1.1 and JSON', () => {
  expect([parseYaml('a: yes'), parseYaml('{"a": "yes"}')]).toEqual([{ a: true }, { a: 'yes' }]);
});
