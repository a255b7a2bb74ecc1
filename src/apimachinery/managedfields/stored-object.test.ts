import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject, ManagedFieldsEntry } from '#apimachinery/meta/types';
import { encodeRawJson, parseEncoded } from '#apimachinery/runtime/json/json';
import { isKnown } from './known-fields.ts';
import { parseStored } from './stored-object.ts';

/** Keys and texts that resemble the end of an encoded value. */
const text = fc.oneof(
  fc.constantFrom(
    '}]',
    '},{"',
    '"},{"manager":"',
    ',"subresource":"',
    '"managedFields":[{',
    '"fieldsV1":',
    '{',
    '\\',
    'ä😀',
    '12345678901234567',
    '',
  ),
  fc.string({ maxLength: 5 }),
);
const { fields } = fc.letrec<{ fields: object }>((tie) => ({
  fields: fc.dictionary(
    text.map((name) => `f:${name}`),
    fc.oneof({ depthSize: 'small' }, fc.constant({}), tie('fields')),
    { maxKeys: 3 },
  ),
}));
/** In the order of the type. */
const entry = fc.record(
  { manager: text, operation: text, apiVersion: text, time: text, fieldsType: text, fieldsV1: fields, subresource: text },
  { requiredKeys: [] },
);
const metadata = fc.record(
  {
    name: text,
    labels: fc.dictionary(text, text),
    ownerReferences: fc.array(fc.record({ name: text })),
    managedFields: fc.array(entry, { maxLength: 4 }),
  },
  { requiredKeys: [] },
);
const object = fc.record({
  // Custom resource data before and after its metadata.
  data: fc.option(metadata),
  metadata,
  spec: fc.oneof(metadata, fc.dictionary(text, fc.jsonValue())),
});

const encoded = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const entriesOf = (value: KubeObject): ManagedFieldsEntry[] => value.metadata.managedFields ?? [];

describe('a stored object', () => {
  it('equals its text, however often it is read', () => {
    fc.assert(
      fc.property(object, (value) => {
        const bytes = encoded(value);
        for (let time = 0; time < 3; time += 1) expect(encodeRawJson(parseStored(bytes))).toBe(encodeRawJson(parseEncoded(bytes)));
      }),
      { numRuns: 500 },
    );
  });

  it('shares its fields with others of the same form', () => {
    const fieldsOf = (name: string) => ({
      'f:metadata': { 'f:annotations': { '.': {}, [`f:${name}`]: {} } },
      'f:spec': { 'f:nodeName': {} },
    });
    const one = (name: string) =>
      encoded({
        metadata: {
          name,
          managedFields: [
            { manager: 'a', fieldsV1: fieldsOf('common') },
            { manager: 'b', fieldsV1: fieldsOf(name), subresource: 'status' },
            { manager: 'c', fieldsV1: fieldsOf('of status'), subresource: 'status' },
          ],
        },
        spec: { list: [{ a: 1 }] },
      });
    const [, , left, right] = ['p', 'q', 'left', 'right'].map((name) => entriesOf(parseStored(one(name))));
    expect(left!.map(({ fieldsV1 }, at) => fieldsV1 === right![at]!.fieldsV1)).toEqual([true, false, true]);
    expect(left!.map(({ fieldsV1 }) => isKnown(fieldsV1!))).toEqual([true, false, true]);
    expect(right).toEqual(entriesOf(parseEncoded(one('right')) as KubeObject));
  });
});
