import { expect, test } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { atOnce } from '#apimachinery/runtime/steps';
import { copyObject, copyObjectSteps } from './copy-object.ts';

const object = (): KubeObject =>
  ({
    metadata: { name: 'a', labels: { b: 'c' }, managedFields: [{ manager: 'm', fieldsV1: { 'f:data': {} } }, { manager: 'n' }] },
    data: { d: 'e' },
  }) as unknown as KubeObject;

test.each([
  ['at once', copyObject],
  ['in steps', (from: KubeObject) => atOnce(copyObjectSteps(from))],
])('a copy %s shares only fieldsV1', (_, copyOf) => {
  const from = object();
  const copy = copyOf(from);
  expect(copy).toEqual(from);
  const [before, after] = [from.metadata.managedFields, copy.metadata.managedFields];
  expect(after?.[0]?.fieldsV1).toBe(before?.[0]?.fieldsV1);
  expect(after?.[0]).not.toBe(before?.[0]);
  expect(copy.metadata.labels).not.toBe(from.metadata.labels);
  expect(copy['data']).not.toBe(from['data']);
  expect(from).toEqual(object());
});

test('without managers', () => {
  const from = { metadata: { name: 'a' } } as KubeObject;
  expect(copyObject(from)).toEqual(from);
  expect(copyObject(from).metadata).not.toBe(from.metadata);
});
