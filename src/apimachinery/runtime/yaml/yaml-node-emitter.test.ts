import { expect, it } from 'vitest';
import { Float64 } from '../numbers.ts';
import { encodeYamlNode } from './yaml-node-emitter.ts';

// Expected texts are yaml.v3's.
it.each([
  ['plain text', 'plain text\n'],
  ['', '""\n'],
  ['true', '"true"\n'],
  ['yes', 'yes\n'],
  ['~', '"~"\n'],
  ['2020-01-01', '"2020-01-01"\n'],
  ['0x1F', '"0x1F"\n'],
  ['1_000', '"1_000"\n'],
  ['- a', "'- a'\n"],
  ["it's # here", "'it''s # here'\n"],
  ['<<', '<<\n'],
  ['two\nlines', '|-\n    two\n    lines\n'],
  ['two\nlines\n', '|\n    two\n    lines\n'],
  ['\nfirst', '|4-\n\n    first\n'],
  ['trailing \nspace', '"trailing \\nspace"\n'],
  ['a\u0001b', '"a\\x01b"\n'],
  ['word '.repeat(30).trim(), `${'word '.repeat(30).trim()}\n`],
  [new Float64(1, '1.0'), '1.0\n'],
  [9007199254740993n, '9007199254740993\n'],
  [null, 'null\n'],
  [[], '[]\n'],
  [{}, '{}\n'],
  [[1, [2, [3]], { a: { b: [{ c: 1, d: {} }] } }], '- 1\n- - 2\n  - - 3\n- a:\n    b:\n        - c: 1\n          d: {}\n'],
  [
    { z: { y: { x: ['w', { v: 'u\nt' }] } }, a: [], 'key: odd': true },
    "z:\n    y:\n        x:\n            - w\n            - v: |-\n                u\n                t\na: []\n'key: odd': true\n",
  ],
  [[{ message: 'a\nb', rule: 'self.x' }, 'multi\nline'], '- message: |-\n    a\n    b\n  rule: self.x\n- |-\n  multi\n  line\n'],
])('%s', (value, yaml) => {
  expect(encodeYamlNode(value)).toBe(yaml);
});
