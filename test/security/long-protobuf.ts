/** Protobuf bodies of the maximum size, each of one kind of content that was once read in one turn of the event loop. */
import { Buffer } from 'node:buffer';
import type { TestRequest } from '#testing/index';
import { field } from './content/cases.ts';
import { limitBytes, many } from './longest-turn.ts';

interface ProtobufRow {
  readonly name: string;
  readonly path: string;
  readonly atMost: number;
  readonly request: TestRequest;
}

/** Most are read in turns of 10 ms, and were read in one of 80 to 250. */
const atMost = 50;
const space = limitBytes - 200;
const configMaps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const reviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

const message = (...fields: Buffer[]): Buffer => Buffer.concat(fields);
const filled = (part: Buffer): Buffer => Buffer.alloc(Math.floor(space / part.length) * part.length, part);
const send = (...envelope: Buffer[]): TestRequest => ({
  method: 'POST',
  headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
  body: message(Buffer.from('k8s\0'), ...envelope),
});
const object = (apiVersion: string, kind: string, ...fields: Buffer[]): TestRequest =>
  send(field(1, message(field(1, apiVersion), field(2, kind))), field(2, message(field(1, field(1, 'protobuf')), ...fields)));
const configMap = (...fields: Buffer[]): TestRequest => object('v1', 'ConfigMap', ...fields);
/** A definition whose schema has these fields. */
const definition = (...schema: Buffer[]): TestRequest =>
  object(
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    field(2, field(7, message(field(1, 'v1'), field(4, field(1, message(...schema)))))),
  );

const managed = (text: string): Buffer =>
  field(17, message(field(1, 'm'), field(2, 'Update'), field(6, 'FieldsV1'), field(7, field(1, text))));
/** Headers of a probe, whose handler is a message that is inlined in JSON. */
const probeHeaders = filled(field(5, message(field(1, 'a'), field(2, 'b'))));

export const longProtobuf: readonly ProtobufRow[] = [
  {
    name: 'protobuf below an inlined message',
    path: pods,
    atMost: 100,
    request: object('v1', 'Pod', field(2, field(2, message(field(1, 'c'), field(10, field(1, field(2, probeHeaders))))))),
  },
  {
    name: 'managed fields in protobuf',
    path: configMaps,
    atMost: 100,
    request: configMap(field(1, managed(`{"f:data":{${many((i) => `"f:k${i}":{}`, space)}}}`))),
  },
  {
    name: 'a schema of items in protobuf',
    path: definitions,
    atMost,
    request: definition(field(24, field(1, filled(field(30, message(field(1, 'a'), field(2, ''))))))),
  },
  {
    name: 'schemas of items in protobuf',
    path: definitions,
    // 20 ms; 260 in one turn.
    atMost: 100,
    request: definition(field(24, Buffer.alloc(600_000, field(2, '')))),
  },
  {
    name: 'a list of dependencies in protobuf',
    path: definitions,
    atMost,
    request: definition(field(34, message(field(1, 'a'), field(2, filled(field(2, '')))))),
  },
  {
    name: 'one property of a schema in protobuf',
    path: definitions,
    atMost,
    request: definition(field(30, message(field(1, 'a'), field(2, filled(field(23, 'a')))))),
  },
  {
    name: 'an extra value of a user in protobuf',
    path: reviews,
    atMost,
    request: object(
      'authorization.k8s.io/v1',
      'SubjectAccessReview',
      field(2, message(field(3, 'u'), field(5, message(field(1, 'a'), field(2, filled(field(1, ''))))))),
    ),
  },
  {
    name: 'packed numbers in protobuf',
    path: pods,
    atMost: 80,
    request: object('v1', 'Pod', field(2, field(14, field(4, Buffer.alloc(space, 1))))),
  },
  { name: 'the key of one entry in protobuf', path: configMaps, atMost, request: configMap(field(2, filled(field(1, 'a')))) },
  { name: 'an envelope in protobuf', path: configMaps, atMost, request: send(filled(field(2, ''))) },
  { name: 'the kind of an envelope in protobuf', path: configMaps, atMost, request: send(field(1, filled(field(2, '')))) },
];
