import { describe, expect, test } from 'vitest';
import type { ObjectMeta } from '../meta/types.ts';
import { fieldPath, TooManyErrors } from './field.ts';
import { nameIsDNSSubdomain } from './names.ts';
import {
  validateConditions,
  validateFieldManager,
  validateLabelSelector,
  validateNoNewFinalizers,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from './object-meta.ts';

const path = fieldPath('metadata');
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
const label = "(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

test('returns as many errors as a body can cause', () => {
  const labels = Object.fromEntries(Array.from({ length: 300_000 }, (_, i) => [`!${i}`, '']));
  expect(() => validateObjectMeta({ name: 'a', labels }, { namespaced: false, nameFn: nameIsDNSSubdomain }, path)).toThrow(TooManyErrors);
});

describe('validateObjectMeta', () => {
  const valid: ObjectMeta = { name: 'a', namespace: 'ns' };
  test.each<[name: string, meta: ObjectMeta, namespaced: boolean, errors: string[]]>([
    ['valid', valid, true, []],
    ['no name', {}, false, ['metadata.name: Required value: name or generateName is required']],
    ['no namespace', { name: 'a' }, true, ['metadata.namespace: Required value']],
    ['a namespace on a cluster-scoped object', valid, false, ['metadata.namespace: Forbidden: not allowed on this type']],
    [
      'negative generation',
      { name: 'a', generation: -1 },
      false,
      ['metadata.generation: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'label value',
      { name: 'a', labels: { a: '-' } },
      false,
      [
        `metadata.labels: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character ${label}`,
      ],
    ],
    ['annotation keys may have upper case', { name: 'a', annotations: { 'X.io/A': '' } }, false, []],
    [
      'oversized annotations',
      { name: 'a', annotations: { a: 'x'.repeat(256 * 1024) } },
      false,
      ['metadata.annotations: Too long: may not be more than 262144 bytes'],
    ],
    [
      'two controllers',
      {
        name: 'a',
        ownerReferences: [
          { ...owner, controller: true },
          { ...owner, name: 'q', controller: true },
        ],
      },
      false,
      [
        'metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":true},{"apiVersion":"v1","kind":"Pod","name":"q","uid":"u","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for Pod/p and Pod/q',
      ],
    ],
    [
      'empty owner',
      { name: 'a', ownerReferences: [{ ...owner, apiVersion: '', name: '' }] },
      false,
      [
        'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
        'metadata.ownerReferences.name: Invalid value: "": must not be empty',
      ],
    ],
    [
      'an event as owner',
      { name: 'a', ownerReferences: [{ ...owner, kind: 'Event' }] },
      false,
      [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"p","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
      ],
    ],
    [
      'conflicting finalizers',
      { name: 'a', finalizers: ['orphan', 'foregroundDeletion'] },
      false,
      ['metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set'],
    ],
    [
      'managed fields',
      { name: 'a', managedFields: [{ operation: 'x', fieldsType: 'y' }] },
      false,
      [
        'metadata.managedFields[0].operation: Invalid value: "x": must be `Apply` or `Update`',
        'metadata.managedFields[0].fieldsType: Invalid value: "y": must be `FieldsV1`',
      ],
    ],
  ])('%s', (_name, meta, namespaced, errors) => {
    expect(validateObjectMeta(meta, { namespaced, nameFn: nameIsDNSSubdomain }, path).map(String)).toEqual(errors);
  });
});

describe('validateObjectMetaUpdate', () => {
  const old: ObjectMeta = {
    name: 'a',
    namespace: 'ns',
    uid: 'u',
    resourceVersion: '1',
    generation: 2,
    creationTimestamp: '2020-01-01T00:00:00Z',
  };
  test.each<[name: string, change: ObjectMeta, errors: string[]]>([
    ['nothing', {}, []],
    ['name', { name: 'b' }, ['metadata.name: Invalid value: "b": field is immutable']],
    ['resource version', { resourceVersion: '' }, ['metadata.resourceVersion: Invalid value: "": must be specified for an update']],
    ['generation', { generation: 1 }, ['metadata.generation: Invalid value: 1: must not be decremented']],
    [
      'deletion',
      { deletionTimestamp: '2020-01-01T00:00:00Z' },
      ['metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable'],
    ],
  ])('%s', (_name, change, errors) => {
    expect(validateObjectMetaUpdate({ ...old, ...change }, old, path).map(String)).toEqual(errors);
  });

  test('finalizers of an object that is being deleted', () => {
    expect(validateNoNewFinalizers(['c', 'b', 'a'], ['a'], path).map(String)).toEqual([
      'metadata: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"b", "c"}',
    ]);
  });
});

test('field managers are short and printable', () => {
  expect(validateFieldManager('é\u0007', path).map((error) => error.detail)).toEqual(['invalid character U+0007 (at position 2)']);
  expect(validateFieldManager('x'.repeat(129), path).map(String)).toEqual(['metadata: Too long: may not be more than 128 bytes']);
});

test('label selectors', () => {
  const selector = {
    matchExpressions: [
      { key: 'a', operator: 'In' },
      { key: 'b', operator: 'Exists', values: ['x'] },
      { key: 'c', operator: 'Like' },
    ],
  };
  expect(validateLabelSelector(selector, {}, fieldPath('s')).map(String)).toEqual([
    "s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    "s.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    's.matchExpressions[2].operator: Invalid value: "Like": not a valid selector operator',
  ]);
  expect(validateLabelSelector(undefined, {}, fieldPath('s'))).toEqual([]);
});

test('conditions', () => {
  const good = { type: 'Ready', status: 'True', reason: 'Because', lastTransitionTime: '2020-01-01T00:00:00Z' };
  expect(validateConditions([good], fieldPath('c'))).toEqual([]);
  expect(validateConditions([good, { ...good, status: 'Maybe', reason: '' }], fieldPath('c')).map(String)).toEqual([
    'c[1].type: Duplicate value: "Ready"',
    'c[1].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
    'c[1].reason: Required value',
  ]);
});
