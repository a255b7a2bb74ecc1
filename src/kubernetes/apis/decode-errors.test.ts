import { describe, expect, it } from 'vitest';
import { decode } from '#apimachinery/runtime/decode';
import type { DecodingForm } from '#apimachinery/runtime/decoding';
import { parseJson } from '#apimachinery/runtime/json/json';
import { schema } from '#kubernetes/schema/schema';

/** Recorded answers of kube-apiserver v1.36.3. */
const rows: readonly (readonly [DecodingForm, type: string, json: string, message: string])[] = [
  [
    'json',
    'core_v1.Service',
    '{"spec":{"ports":[{"protocol":0}]}}',
    'json: cannot unmarshal number into Go struct field ServicePort.spec.ports.protocol of type v1.Protocol',
  ],
  [
    'json',
    'core_v1.PersistentVolume',
    '{"spec":{"accessModes":true}}',
    'json: cannot unmarshal bool into Go struct field PersistentVolumeSpec.spec.accessModes of type []v1.PersistentVolumeAccessMode',
  ],
  [
    'json',
    'core_v1.PersistentVolume',
    '{"spec":{"accessModes":[[]]}}',
    'json: cannot unmarshal array into Go struct field PersistentVolumeSpec.spec.accessModes of type v1.PersistentVolumeAccessMode',
  ],
  [
    'json',
    'core_v1.PersistentVolumeClaim',
    '{"spec":{"resources":{"requests":0}}}',
    'json: cannot unmarshal number into Go struct field VolumeResourceRequirements.spec.resources.requests of type v1.ResourceList',
  ],
  [
    'json',
    'core_v1.Pod',
    '{"spec":{"ephemeralContainers":[{"ports":[{"hostPort":9007199254740991}]}]}}',
    'json: cannot unmarshal number 9007199254740991 into Go struct field ContainerPort.spec.ephemeralContainers.EphemeralContainerCommon.ports.hostPort of type int32',
  ],
  [
    'json',
    'core_v1.PodTemplate',
    '{"template":{"spec":{"volumes":[{"glusterfs":"1"}]}}}',
    'json: cannot unmarshal string into Go struct field Volume.template.spec.volumes.VolumeSource.glusterfs of type v1.GlusterfsVolumeSource',
  ],
  [
    'json',
    'networking_v1.Ingress',
    '{"spec":{"rules":[{"http":{"paths":[{"backend":{"service":1.5}}]}}]}}',
    'json: cannot unmarshal number into Go struct field IngressBackend.spec.rules.IngressRuleValue.http.paths.backend.service of type v1.IngressServiceBackend',
  ],
  [
    'json',
    'core_v1.Event',
    '{"involvedObject":{"uid":{}}}',
    'json: cannot unmarshal object into Go struct field ObjectReference.involvedObject.uid of type types.UID',
  ],
  ['unstructured', 'core_v1.Service', '{"spec":{"ports":[{"protocol":-1}]}}', 'cannot convert int64 to v1.Protocol'],
  ['unstructured', 'core_v1.ConfigMap', '{"data":{"a":[]}}', 'unrecognized type: string'],
  ['unstructured', 'core_v1.ConfigMap', '{"binaryData":{"c":"Q Q = ="}}', 'error decoding from json: illegal base64 data at input byte 1'],
  [
    'unstructured',
    'core_v1.ReplicationController',
    '{"metadata":{"deletionTimestamp":5}}',
    'json: cannot unmarshal number into Go value of type string',
  ],
  ['unstructured', 'core_v1.Pod', '{"spec":"x"}', 'cannot restore struct from: string'],
  ['unstructured', 'core_v1.Pod', '{"metadata":{"labels":1}}', 'cannot restore map from int64'],
  ['unstructured', 'core_v1.Pod', '{"spec":{"containers":{}}}', 'cannot restore slice from map'],
  ['unstructured', 'core_v1.Pod', '{"spec":{"terminationGracePeriodSeconds":1.5}}', 'cannot convert float64 to int64'],
];

describe('decoding errors', () => {
  it.each(rows)('%s %s %s', (form, type, json, message) => {
    const { value } = parseJson(Buffer.from(json));
    expect(() => decode(schema.struct(type), value, { form })).toThrow(message);
  });
});

it.each([
  ['9223372036854775807', -1, 9_223_372_036_854_775_807n],
  ['9223372036854775808', 0, -9_223_372_036_854_775_808n],
  ['1e300', 0, -9_223_372_036_854_775_808n],
  ['9007199254740993', 1, 9_007_199_254_740_993n],
  ['-3', -3, -3],
])('decodes an unstructured %s as %s for an int32, and as %s for an int64', (literal, int32, int64) => {
  const { value } = parseJson(Buffer.from(`{"spec":{"priority":${literal},"terminationGracePeriodSeconds":${literal}}}`));
  const { object } = decode(schema.struct('core_v1.Pod'), value, { form: 'unstructured' });
  expect(object).toEqual({ spec: { priority: int32, terminationGracePeriodSeconds: int64 } });
});
