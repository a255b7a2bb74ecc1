import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { apiExtensionsGroup } from '#apiextensions-apiserver/apis/apiextensions/group';
import { schema as apiextensionsSchema } from '#apiextensions-apiserver/schema/schema';
import { isCbor, parseCbor } from '#apimachinery/runtime/cbor/cbor';
import { encodeJson } from '#apimachinery/runtime/json/json';
import { isProtobuf, protobufKind } from '#apimachinery/runtime/protobuf/protobuf';
import { Scheme } from '#apiserver/registry/scheme';
import { SchemeBuilder } from '#apiserver/registry/scheme-builder';
import { groups } from '#kubernetes/apis/groups';
import { schema } from '#kubernetes/schema/schema';
import type { Encode, StorageRecord } from '#apiserver/storage/storage';
import { FakeStorage } from '#apiserver/storage/fake-storage';
import { ObjectStorage } from '#apiserver/storage/value/object-storage';
import { objectFormsFor } from './object-forms.ts';

const scheme = new Scheme();
new SchemeBuilder(schema, ...groups).addToScheme(scheme);
new SchemeBuilder(apiextensionsSchema, apiExtensionsGroup).addToScheme(scheme);

const protobuf = objectFormsFor(scheme, 'application/vnd.kubernetes.protobuf');
const json = objectFormsFor(scheme, 'application/json');

function line(object: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(object)}\n`);
}

describe('the stored form', () => {
  const configMap = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'a', namespace: 'default', resourceVersion: '7', creationTimestamp: null },
    data: { a: 'b' },
  };
  it.each([
    { name: 'protobuf', forms: protobuf, isBinary: true },
    { name: 'JSON', forms: json, isBinary: false },
  ])('is readable for $name by both media types, at the revision of the record', ({ forms, isBinary }) => {
    const stored = forms('/configmaps/default/a')!.toStorage(line(configMap));
    expect(isProtobuf(stored)).toBe(isBinary);
    expect(stored.includes('resourceVersion')).toBe(false);
    for (const reader of [protobuf, json]) {
      const read = JSON.parse(String(reader('/configmaps/default/a')!.fromStorage(stored, 12))) as unknown;
      expect(read).toMatchObject({ ...configMap, metadata: { name: 'a', namespace: 'default', resourceVersion: '12' } });
    }
  });

  it.each([
    { key: '/horizontalpodautoscalers/default/a', kind: 'HorizontalPodAutoscaler', apiVersion: 'autoscaling/v2' },
    { key: '/events/default/a', kind: 'Event', apiVersion: 'v1' },
    { key: '/mutatingadmissionpolicies/a', kind: 'MutatingAdmissionPolicy', apiVersion: 'admissionregistration.k8s.io/v1beta1' },
    { key: '/services/specs/default/a', kind: 'Service', apiVersion: 'v1' },
    { key: '/ranges/servicenodeports', kind: 'RangeAllocation', apiVersion: 'v1' },
    { key: '/masterleases/10.0.0.1', kind: 'Endpoints', apiVersion: 'v1' },
  ])('$key is $apiVersion in protobuf', ({ key, kind, apiVersion }) => {
    const stored = protobuf(key)!.toStorage(line({ kind, apiVersion, metadata: { name: 'a' } }));
    expect(protobufKind(stored)).toEqual({ apiVersion, kind });
  });

  it('is converted from an older version', () => {
    const stored = line({
      kind: 'HorizontalPodAutoscaler',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'a' },
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
    });
    const read = JSON.parse(String(protobuf('/horizontalpodautoscalers/default/a')!.fromStorage(stored, 3))) as Record<string, unknown>;
    expect(read).toMatchObject({ apiVersion: 'autoscaling/v2', spec: { metrics: [{ type: 'Resource', resource: { name: 'cpu' } }] } });
  });

  it('has the top-level fields of a v1beta1 definition in each version', () => {
    const stored = line({
      kind: 'CustomResourceDefinition',
      apiVersion: 'apiextensions.k8s.io/v1beta1',
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        version: 'v1',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        scope: 'Namespaced',
        validation: { openAPIV3Schema: { type: 'object' } },
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', JSONPath: '.spec.size' }],
        versions: [
          { name: 'v1', served: true, storage: true },
          { name: 'v2', served: true, storage: false },
        ],
        conversion: { strategy: 'None' },
        preserveUnknownFields: false,
      },
    });
    const form = protobuf('/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com')!;
    const read = JSON.parse(String(form.fromStorage(stored, 3))) as unknown;
    const shared = {
      schema: { openAPIV3Schema: { type: 'object' } },
      subresources: { status: {} },
      additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
    };
    expect(read).toMatchObject({
      apiVersion: 'apiextensions.k8s.io/v1',
      spec: {
        versions: [
          { name: 'v1', storage: true, ...shared },
          { name: 'v2', storage: false, ...shared },
        ],
        conversion: { strategy: 'None' },
      },
    });
    const written = JSON.parse(String(form.toStorage(form.fromStorage(stored, 3)))) as { readonly apiVersion: string };
    expect(written.apiVersion).toBe('apiextensions.k8s.io/v1');
  });

  it('fails with an error for an unknown version', () => {
    const stored = line({ kind: 'ConfigMap', apiVersion: 'v9', metadata: { name: 'a' } });
    expect(() => protobuf('/configmaps/default/a')!.fromStorage(stored, 3)).toThrow('unknown stored version "v9"');
  });

  it('preserves the JSON of custom resources, with each digit', () => {
    const form = protobuf('/example.com/widgets/default/a')!;
    const served =
      '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","resourceVersion":"7"},"spec":{"n":9007199254740993}}\n';
    const stored = '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"n":9007199254740993}}\n';
    expect(String(form.toStorage(Buffer.from(served)))).toBe(stored);
    expect(String(form.fromStorage(Buffer.from(stored), 12))).toBe(
      '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"resourceVersion":"12","name":"a"},"spec":{"n":9007199254740993}}\n',
    );
  });

  it('is CBOR for custom resources if the gate is enabled, and readable without the gate', () => {
    const key = '/example.com/widgets/default/a';
    const object = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'a' },
      spec: { n: 9007199254740993n, ä: [1.5, null] },
    };
    const served = Buffer.from(`${encodeJson({ ...object, metadata: { name: 'a', resourceVersion: '7' } })}\n`);
    const stored = objectFormsFor(scheme, 'application/json', true)(key)!.toStorage(served);
    expect([isCbor(stored), parseCbor(stored)]).toEqual([true, object]);
    for (const forms of [protobuf, json, objectFormsFor(scheme, 'application/json', true)]) {
      expect(String(forms(key)!.fromStorage(stored, 12))).toBe(
        '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"resourceVersion":"12","name":"a"},"spec":{"n":9007199254740993,"ä":[1.5,null]}}\n',
      );
    }
  });

  it('is unchanged for a key that belongs to no resource', () => {
    expect(protobuf('/kubenest/something')).toBeUndefined();
  });
});

it('computes the stored form of an object once, however often the store requests another revision', async () => {
  /** A store that, like etcd, learns the revision from the write and then requests the value again for the response. */
  class LateStorage extends FakeStorage {
    override async create(key: string, encode: Encode): Promise<StorageRecord> {
      const guessed = encode(5);
      expect(encode(8)).toBe(guessed);
      return { key, revision: 8, createRevision: 8, value: guessed };
    }
  }
  let made = 0;
  const form = {
    toStorage: (value: Buffer): Buffer => {
      made += 1;
      return value.subarray(0, 1);
    },
    fromStorage: (): Buffer => Buffer.from('read'),
  };
  const storage = new ObjectStorage(new LateStorage(), () => form);
  const record = await storage.create('/pods/default/a', (revision) => Buffer.from(`{${revision}`));
  expect([record.value.toString(), made]).toEqual(['{8', 1]);
});
