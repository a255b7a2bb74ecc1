import { describe, expect, test } from 'vitest';
import { newExpressionsEnvironment } from './base-environment.ts';
import { dynType } from './check/types.ts';
import { activationOf } from './environment.ts';
import { fromJson } from './json-values.ts';
import { display } from './runtime/format.ts';
import { CelError } from './runtime/values.ts';
import { Issues } from './syntax/source.ts';

const environment = newExpressionsEnvironment.extend({ variables: { object: dynType } });
const object = fromJson({
  metadata: { name: 'x', labels: { a: 'b' } },
  spec: { replicas: 3, containers: [{ name: 'c', image: 'docker.io/x' }], none: null },
});

/** Returns an expression's value and cost (`value (cost)`), or its errors. */
function outcome(text: string): string {
  const expression = environment.compile(text);
  if (expression instanceof Issues) return String(expression);
  const { value, cost } = expression.program().evaluate(activationOf({ object }));
  return `${value instanceof CelError ? 'error: ' : ''}${display(value)} (${cost})`;
}

describe('evaluation', () => {
  const table: readonly (readonly [expression: string, expected: string])[] = [
    ['1 + 2 * 3', '7 (2)'],
    ['object.spec.replicas <= 5', 'true (4)'],
    ['object.spec.containers.all(c, c.image.startsWith("docker.io/"))', 'true (11)'],
    ['[1, 2, 3].map(x, x * 2)', '[2, 4, 6] (43)'],
    ['has(object.foo) || object.metadata.labels.a == "b"', 'true (6)'],
    ['{"a": 1}.transformMap(k, v, v + 1)', '{a: 2} (6)'],
    ['object.?spec.?foo.orValue(4)', '4 (2)'],
    ['has(object.spec.none)', 'true (2)'],
    ['object.spec.none', 'null (3)'],
    ['object.spec.none == null && [null][0] == null && optional.of(null).value() == null', 'true (10)'],
    ['[lists.range(50) + lists.range(50)].map(s, s + s)[0].filter(i, i == 49).size()', '4 (605)'],
    ['object.spec.a.b', 'error: no such key: a (3)'],
    ['[1, 2].exists(x, x / 0 > 1 || true)', 'true (11)'],
    ['9223372036854775807 + 1', 'error: integer overflow (1)'],
    ['1 / 0', 'error: division by zero (1)'],
    ['dyn("a") + 1', 'error: no such overload (1)'],
    ['[3, 1, 2].sortBy(x, -x)', '[3, 2, 1] (74)'],
    ['optional.of(1).optMap(x, x + 1)', 'optional(2) (7)'],
    ['"%s %d %.2f".format([dyn("a"), dyn(1), dyn(2.5)])', 'a 1 2.50 (1)'],
    [
      '"%e|%.0e|%.14e|%e".format([1234567.891, -2.5, 2.5, 1.0 / 0.0])',
      '1.234568\u00d710\u2070\u2076|-2.500000\u00d710\u2070\u2070| 2.500000\u00d710\u2070\u2070|     \u221e (13)',
    ],
    ['isURL("http://%41.com")', 'false (1)'],
    ['isURL("http://%C3%BC.com")', 'true (1)'],
    ['quantity("1Gi").isGreaterThan(quantity("500Mi"))', 'true (3)'],
    ['cidr("10.0.0.0/8").containsIP("10.1.1.1")', 'true (3)'],
    ['url("https://a.b:80/c?d=e").getHost()', 'a.b:80 (3)'],
    ['format.dns1123Label().validate("A").hasValue()', 'true (10)'],
    ['semver("1.2.3").major()', '1 (2)'],
  ];
  test.each(table)('%s', (expression, expected) => {
    expect(outcome(expression)).toBe(expected);
  });
});

describe('compile errors', () => {
  const table: readonly (readonly [expression: string, expected: string])[] = [
    [
      '"%d".format(["a"])',
      'ERROR: <input>:1:14: error during formatting: decimal clause can only be used on integers, was given string\n | "%d".format(["a"])\n | .............^',
    ],
    ['"%s %s".format([1])', 'ERROR: <input>:1:15: index 1 out of range\n | "%s %s".format([1])\n | ..............^'],
    [
      '"%q".format([1])',
      'ERROR: <input>:1:12: could not parse formatting clause: unrecognized formatting clause "q"\n | "%q".format([1])\n | ...........^',
    ],
    [
      '"%s".format([1, 2])',
      'ERROR: <input>:1:12: too many arguments supplied to string.format (expected 1, got 2)\n | "%s".format([1, 2])\n | ...........^',
    ],
    [
      '"%s".format([{"a": [optional.of(1)]}])',
      'ERROR: <input>:1:32: error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type\n | "%s".format([{"a": [optional.of(1)]}])\n | ...............................^',
    ],
    [
      'object.a ==',
      "ERROR: <input>:1:12: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | object.a ==\n | ...........^",
    ],
    ['object.', "ERROR: <input>:1:8: Syntax error: no viable alternative at input '.'\n | object.\n | .......^"],
    // One error: the recovery from it is not over at the second dot.
    ['../x', "ERROR: <input>:1:2: Syntax error: no viable alternative at input '..'\n | ../x\n | .^"],
    ["1 + 'a'", "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + 'a'\n | ..^"],
    ['bogus.x', "ERROR: <input>:1:1: undeclared reference to 'bogus' (in container '')\n | bogus.x\n | ^"],
    ['duration("x")', 'ERROR: <input>:1:10: invalid duration argument\n | duration("x")\n | .........^'],
    [
      'Object{"a": 1}',
      "ERROR: <input>:1:8: Syntax error: mismatched input '\"a\"' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}\n | Object{\"a\": 1}\n | .......^",
    ],
    ['Object{a: 1,', "ERROR: <input>:1:13: Syntax error: missing '}' at '<EOF>'\n | Object{a: 1,\n | ............^"],
    ['Object{,,}', "ERROR: <input>:1:9: Syntax error: extraneous input ',' expecting '}'\n | Object{,,}\n | ........^"],
    ['[1,', "ERROR: <input>:1:4: Syntax error: missing ']' at '<EOF>'\n | [1,\n | ...^"],
    ['{,', "ERROR: <input>:1:3: Syntax error: missing '}' at '<EOF>'\n | {,\n | ..^"],
    // The way in which upstream's parser recovers decides which errors follow.
    [
      'foo(,',
      "ERROR: <input>:1:5: Syntax error: mismatched input ',' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | foo(,\n | ....^",
    ],
    [
      'a.?',
      "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {IDENTIFIER, ESC_IDENTIFIER}\n | a.?\n | ...^\nERROR: <input>:1:4: unsupported ident kind\n | a.?\n | ...^",
    ],
    [
      '!',
      "ERROR: <input>:1:2: Syntax error: extraneous input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | !\n | .^",
    ],
    [
      '!)',
      "ERROR: <input>:1:2: Syntax error: extraneous input ')' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | !)\n | .^",
    ],
    [
      '-',
      "ERROR: <input>:1:2: Syntax error: no viable alternative at input '-'\n | -\n | .^\nERROR: <input>:1:2: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | -\n | .^",
    ],
    [
      '--',
      "ERROR: <input>:1:3: Syntax error: no viable alternative at input '-'\n | --\n | ..^\nERROR: <input>:1:3: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | --\n | ..^",
    ],
    ['-!a', "ERROR: <input>:1:2: Syntax error: no viable alternative at input '-!'\n | -!a\n | .^"],
    ['! - a', "ERROR: <input>:1:5: Syntax error: no viable alternative at input '- a'\n | ! - a\n | ....^"],
    [
      '"\\u12"',
      "ERROR: <input>:1:1: Syntax error: token recognition error at: '\"\\u12\"'\n | \"\\u12\"\n | ^\nERROR: <input>:1:7: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | \"\\u12\"\n | ......^",
    ],
    [
      '"\\x"',
      "ERROR: <input>:1:1: Syntax error: token recognition error at: '\"\\x\"'\n | \"\\x\"\n | ^\nERROR: <input>:1:5: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | \"\\x\"\n | ....^",
    ],
    [
      'Object{in:1}',
      "ERROR: <input>:1:8: Syntax error: mismatched input 'in' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}\n | Object{in:1}\n | .......^\nERROR: <input>:1:10: Syntax error: extraneous input ':' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | Object{in:1}\n | .........^\nERROR: <input>:1:12: Syntax error: extraneous input '}' expecting <EOF>\n | Object{in:1}\n | ...........^",
    ],
    [
      'Object{?1:2}',
      "ERROR: <input>:1:8: unsupported ident kind\n | Object{?1:2}\n | .......^\nERROR: <input>:1:9: Syntax error: mismatched input '1' expecting {IDENTIFIER, ESC_IDENTIFIER}\n | Object{?1:2}\n | ........^",
    ],
    [
      '[?',
      "ERROR: <input>:1:3: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | [?\n | ..^",
    ],
    [
      'f(,)',
      "ERROR: <input>:1:3: Syntax error: extraneous input ',' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | f(,)\n | ..^",
    ],
    [
      'has(',
      "ERROR: <input>:1:5: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | has(\n | ....^",
    ],
    [
      '"a\nb"',
      'ERROR: <input>:1:1: Syntax error: token recognition error at: \'"a\n\'\n | "a\n | ^\nERROR: <input>:2:2: Syntax error: token recognition error at: \'"\'\n | b"\n | .^',
    ],
    [
      '[a b,c]',
      "ERROR: <input>:1:4: Syntax error: extraneous input 'b' expecting {']', ','}\n | [a b,c]\n | ...^\nERROR: <input>:1:6: Syntax error: extraneous input 'c' expecting ']'\n | [a b,c]\n | .....^",
    ],
    [
      '{:1,b:2}',
      "ERROR: <input>:1:2: Syntax error: extraneous input ':' expecting {'[', '{', '}', '(', '.', ',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | {:1,b:2}\n | .^\nERROR: <input>:1:4: Syntax error: mismatched input ',' expecting ':'\n | {:1,b:2}\n | ...^\nERROR: <input>:1:5: Syntax error: mismatched input 'b' expecting '}'\n | {:1,b:2}\n | ....^",
    ],
    ['.?a', "ERROR: <input>:1:2: Syntax error: no viable alternative at input '.?'\n | .?a\n | .^"],
    ['a.?+b', "ERROR: <input>:1:4: Syntax error: extraneous input '+' expecting {IDENTIFIER, ESC_IDENTIFIER}\n | a.?+b\n | ...^"],
    ['a ? b ] + c', "ERROR: <input>:1:7: Syntax error: mismatched input ']' expecting ':'\n | a ? b ] + c\n | ......^"],
    ['a . + b', "ERROR: <input>:1:5: Syntax error: no viable alternative at input '. +'\n | a . + b\n | ....^"],
    ['({a: 1 b})', "ERROR: <input>:1:8: Syntax error: extraneous input 'b' expecting {'}', ','}\n | ({a: 1 b})\n | .......^"],
    ['a.[b c].d', "ERROR: <input>:1:3: Syntax error: no viable alternative at input '.['\n | a.[b c].d\n | ..^"],
    ['Object{a: 1, b}', "ERROR: <input>:1:15: Syntax error: mismatched input '}' expecting ':'\n | Object{a: 1, b}\n | ..............^"],
    ['"é" + 1', "ERROR: <input>:1:5: found no matching overload for '_+_' applied to '(string, int)'\n | \"é\" + 1\n | .\uff0e..^"],
  ];
  test.each(table)('%s', (expression, expected) => {
    expect(outcome(expression)).toBe(expected);
  });
});
