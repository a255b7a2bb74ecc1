import { describe, expect, it } from 'vitest';
import type { JsonSchemaProps, ValidationRule } from '#apimachinery/structural/json-schema-props';
import { newStructural } from '#apimachinery/structural/structural';
import { RuleValidator } from './rule-validator.ts';

const integer: JsonSchemaProps = { type: 'integer' };

/** Returns the errors of `spec`, and the warnings. */
function run(
  rules: readonly ValidationRule[],
  schema: JsonSchemaProps,
  spec: unknown,
  old?: unknown,
): { errors: string[]; warnings: string[] } {
  const warnings: string[] = [];
  const props: JsonSchemaProps = { type: 'object', properties: { spec: { ...schema, 'x-kubernetes-validations': [...rules] } } };
  const isUpdate = old !== undefined;
  const errors = RuleValidator.for(newStructural(props), true)!
    .validate(undefined, { spec }, isUpdate ? { spec: old } : undefined, isUpdate, (text) => warnings.push(text))
    .map(String);
  return { errors, warnings };
}

const sized: JsonSchemaProps = { type: 'object', properties: { size: integer, max: integer, name: { type: 'string' } } };

describe('RuleValidator', () => {
  const cases: [string, ValidationRule, unknown, unknown, string[]][] = [
    ['a rule that holds', { rule: 'self.size <= self.max' }, { size: 1, max: 2 }, undefined, []],
    [
      'a rule that fails',
      { rule: 'self.size <= self.max' },
      { size: 3, max: 2 },
      undefined,
      ['spec: Invalid value: failed rule: self.size <= self.max'],
    ],
    ['a message', { rule: 'self.size > 1', message: 'too small' }, { size: 1 }, undefined, ['spec: Invalid value: too small']],
    [
      'a message expression',
      { rule: 'self.size > 1', messageExpression: '"not " + string(self.size)', message: 'unused' },
      { size: 1 },
      undefined,
      ['spec: Invalid value: not 1'],
    ],
    [
      'a multi-line message, which is ignored',
      { rule: 'self.size > 1', messageExpression: '"a\\nb"', message: 'too small' },
      { size: 1 },
      undefined,
      ['spec: Invalid value: too small'],
    ],
    ['a reason', { rule: 'self.size > 1', reason: 'FieldValueForbidden', message: 'no' }, { size: 1 }, undefined, ['spec: Forbidden: no']],
    [
      'a field path',
      { rule: 'self.size > 1', fieldPath: '.size', message: 'no' },
      { size: 1 },
      undefined,
      ['spec.size: Invalid value: no'],
    ],
    [
      'an absent field',
      { rule: 'self.size > 1' },
      {},
      undefined,
      ['spec: Invalid value: no such key: size evaluating rule: self.size > 1'],
    ],
    ['has()', { rule: '!has(self.size) || self.size > 1' }, {}, undefined, []],
    ['a transition rule without an old object', { rule: 'self.size >= oldSelf.size' }, { size: 1 }, undefined, []],
    [
      'a transition rule',
      { rule: 'self.size >= oldSelf.size', message: 'shrinks' },
      { size: 1 },
      { size: 2 },
      ['spec: Invalid value: shrinks'],
    ],
    [
      'an optional oldSelf',
      { rule: 'oldSelf.hasValue() || self.size == 1', optionalOldSelf: true, message: 'begin with 1' },
      { size: 2 },
      undefined,
      ['spec: Invalid value: begin with 1'],
    ],
  ];
  it.each(cases)('%s', (_, rule, spec, old, errors) => {
    const found = run([rule], sized, spec, old).errors.map((text) =>
      text.replace(/Invalid value: (?:\{.*?\}|"object"|\d+): /, 'Invalid value: '),
    );
    expect(found).toEqual(errors);
  });

  it('correlates items of maps with their old values, but not those of atomic lists', () => {
    const item: JsonSchemaProps = {
      type: 'object',
      properties: { k: { type: 'string' }, n: integer },
      'x-kubernetes-validations': [{ rule: 'self.n >= oldSelf.n', message: 'shrinks' }],
    };
    const keyed: JsonSchemaProps = { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
    const before = [
      { k: 'a', n: 2 },
      { k: 'b', n: 2 },
    ];
    const after = [
      { k: 'b', n: 1 },
      { k: 'a', n: 3 },
    ];
    expect(run([], keyed, after, before).errors).toHaveLength(1);
    expect(run([], keyed, after, before).errors[0]).toContain('spec[0]');
    expect(run([], { type: 'array', items: item }, after, before).errors).toEqual([]);
  });

  it('accepts an unchanged invalid value, with a warning for the failing rule only', () => {
    const rule = { rule: 'self.size > 1', message: 'too small' };
    expect(run([rule], sized, { size: 1 }, { size: 1 }).errors).toEqual([]);
    expect(run([rule], sized, { size: 0 }, { size: 1 }).errors).toHaveLength(1);
  });

  it('stops when the cost limit is exceeded', () => {
    const list = Array.from({ length: 3_000 }, (_, i) => i);
    const { errors } = run([{ rule: 'self.all(a, self.all(b, a + b >= 0))' }], { type: 'array', items: integer }, list);
    expect(errors.join()).toContain('call cost exceeds limit');
  });
});
