import { expect, it } from 'vitest';
import type { KubeObject, ManagedFieldsEntry } from '#apimachinery/meta/types';
import type { Steps } from '#apimachinery/runtime/steps';
import { withConversions } from './awaited-conversions.ts';
import { type FieldManager, newFieldManager } from './field-manager.ts';
import { thingType } from './fixtures.ts';

const manager = newFieldManager({
  type: thingType,
  groupVersion: 'test/v0',
  kind: 'Thing',
  isUntyped: true,
  convert: (object, apiVersion) => ({ ...object, apiVersion }),
  typeFor: () => thingType,
});
const thing = (metadata: object, data: object): KubeObject =>
  ({ apiVersion: 'test/v0', kind: 'Thing', metadata: { name: 'n', ...metadata }, spec: { data } }) as unknown as KubeObject;
const fieldsOf = (i: number): object => ({ 'f:spec': { 'f:data': { [`f:key-${i}`]: {} } } });
const data = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`key-${i}`, String(i)]));
/** 40 managers of 10 versions. */
const managedFields = Array.from(
  { length: 40 },
  (_, i) =>
    ({
      ...{ manager: `m${i}`, operation: 'Apply', apiVersion: `test/v${i % 10}`, time: '2026-01-01T00:00:00Z' },
      ...{ fieldsType: 'FieldsV1', fieldsV1: fieldsOf(i) },
    }) as unknown as ManagedFieldsEntry,
);
const live = thing({ uid: 'u', managedFields }, data);

const works: readonly [string, (by: FieldManager) => KubeObject | undefined, (by: FieldManager) => Steps<KubeObject | undefined>][] = [
  [
    'an update',
    (by) => by.update(live, thing({ uid: 'u', managedFields }, { ...data, 'key-1': 'x', more: 'y' }), 'me'),
    (by) => by.updateSteps(live, thing({ uid: 'u', managedFields }, { ...data, 'key-1': 'x', more: 'y' }), 'me'),
  ],
  [
    'an apply',
    (by) => by.apply(live, thing({}, { more: 'y' }), 'm0', true),
    (by) => by.applySteps(live, thing({}, { more: 'y' }), 'm0', true),
  ],
];

it.each(works)('%s runs once, however many conversions it waits for, and requests each of them once', async (_, whole, chunked) => {
  const asked: string[] = [];
  let runs = 0;
  const convert = async (object: KubeObject, apiVersion: string): Promise<KubeObject> => {
    asked.push(`${apiVersion} ${JSON.stringify(object)}`);
    await Promise.resolve();
    return { ...structuredClone(object), apiVersion };
  };
  const counted = (by: FieldManager): Steps<KubeObject | undefined> => {
    runs += 1;
    return chunked(by);
  };
  const result = await withConversions(manager, convert, { whole, chunked: counted });
  expect(withoutTimes(result)).toEqual(withoutTimes(whole(manager)));
  expect(runs).toBe(1);
  expect(asked.length).toBeGreaterThan(9);
  expect(new Set(asked).size).toBe(asked.length);
});

it('a failed conversion fails an apply, and an update leaves the object without managers', async () => {
  const fail = async (): Promise<never> => {
    throw new Error('not today');
  };
  const [[, , update], [, , apply]] = works as [(typeof works)[0], (typeof works)[0]];
  await expect(withConversions(manager, fail, { whole: undefined, chunked: apply })).rejects.toThrow('not today');
  const updated = await withConversions(manager, fail, { whole: undefined, chunked: update });
  expect(updated?.metadata.managedFields).toBeUndefined();
});

function withoutTimes(object: KubeObject | undefined): object | undefined {
  return (
    object && {
      ...object,
      metadata: { ...object.metadata, managedFields: object.metadata.managedFields?.map((entry) => ({ ...entry, time: '' })) },
    }
  );
}
