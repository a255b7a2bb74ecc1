import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldsV1 } from '#apimachinery/meta/types';
import { encodeRawJson } from '#apimachinery/runtime/json/json';
import { atOnce } from '#apimachinery/runtime/steps';
import { FieldSet } from './field-set.ts';
import { differenceSteps, fieldsOfText, isKnown, knownFields, unionSteps } from './known-fields.ts';

const element = fc.constantFrom('f:a', 'f:b', 'f:1:a', 'f:a{', 'f:__proto__', 'k:{"name":"a"}', 'v:"}]"', 'i:0');
const set = fc.array(fc.array(element, { minLength: 1, maxLength: 3 }), { maxLength: 8 }).map((paths) => FieldSet.of(...paths));
const textOf = (fields: FieldSet): string => encodeRawJson(fields.toFieldsV1());

/** Makes texts that no other test uses. */
let last = 0;
const newText = (length = 0): string => `{"f:of-a-test-${++last}${'x'.repeat(length)}":{}}`;

describe('known sets', () => {
  it('have equal results of operations, the first time and later', () => {
    fc.assert(
      fc.property(set, fc.array(set, { maxLength: 12 }), (some, others) => {
        const known = FieldSet.fromCanonical(knownFields(some.toFieldsV1()));
        expect(textOf(known)).toBe(textOf(some));
        for (const other of [...others, ...others]) {
          expect(textOf(atOnce(unionSteps(known, other)))).toBe(textOf(some.union(other)));
          expect(textOf(atOnce(differenceSteps(known, other)))).toBe(textOf(some.difference(other)));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('are results and operands of each other', () => {
    const changed = FieldSet.of(['f:annotations', 'f:t']);
    const fields = FieldSet.of(['f:annotations', 'f:t'], ['f:annotations', 'f:note'], ['f:spec']);
    const known = FieldSet.fromCanonical(knownFields(fields.toFieldsV1()));
    const update = (): FieldsV1 => atOnce(unionSteps(atOnce(differenceSteps(known, changed)), changed)).toFieldsV1();
    expect(update()).toBe(known.toFieldsV1());
    expect(update()).toBe(known.toFieldsV1());
  });

  it('with a change of many fields equal unknown ones', () => {
    const paths = Array.from({ length: 200 }, (_, at) => [`f:${String(at).padStart(3, '0')}`]);
    const known = FieldSet.fromCanonical(knownFields(FieldSet.of(['f:a']).toFieldsV1()));
    const result = atOnce(unionSteps(known, FieldSet.of(...paths)));
    expect(result.size).toBe(201);
    expect(isKnown(result.toFieldsV1())).toBe(false);
  });
});

describe('the text of fields', () => {
  it('is interned on its second occurrence', () => {
    const text = newText();
    expect(fieldsOfText(text)).toBeUndefined();
    const fields = fieldsOfText(text);
    expect(encodeRawJson(fields)).toBe(text);
    expect(fieldsOfText(text)).toBe(fields);
    expect(isKnown(fields!)).toBe(true);
    expect(() => Object.assign(fields!, { 'f:more': {} })).toThrow(TypeError);
  });

  it('returns the interned tree of known fields', () => {
    const fields = knownFields(JSON.parse(newText()) as FieldsV1);
    expect(fieldsOfText(encodeRawJson(fields))).toBe(fields);
    expect(knownFields(JSON.parse(encodeRawJson(fields)) as FieldsV1)).toBe(fields);
  });

  it.each([
    { name: 'a long text', text: newText(5_000) },
    { name: 'a text that is not an object', text: '"a"' },
    { name: 'a wrongly cut text', text: '{"f:a":{}' },
  ])('does not intern $name', ({ text }) => {
    for (let time = 0; time < 3; time += 1) expect(fieldsOfText(text)).toBeUndefined();
  });

  it('is evicted after many others, unless it is in use', () => {
    const [unused, used] = [newText(), newText()];
    const fields = [unused, used].map((text) => knownFields(JSON.parse(text) as FieldsV1))[1];
    for (let other = 0; other < 1_000; other += 1) {
      fieldsOfText(newText(1_000));
      expect(fieldsOfText(used)).toBe(fields);
    }
    expect(fieldsOfText(unused)).toBeUndefined();
  });
});
