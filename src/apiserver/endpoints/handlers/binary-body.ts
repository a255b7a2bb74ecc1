import type { Buffer } from 'node:buffer';
import { type GroupVersionKind, groupVersionString, type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import { cborKind, decodeCbor, parseCborMap } from '#apimachinery/runtime/cbor/cbor';
import { diagnoseCbor } from '#apimachinery/runtime/cbor/cbor-diagnostic';
import { DecodeError } from '#apimachinery/runtime/json/json';
import type { Pace } from '#apimachinery/runtime/pace';
import { decodeProtobuf, decodeProtobufSteps, hasEmptyBody, isProtobuf, protobufKindSteps } from '#apimachinery/runtime/protobuf/protobuf';
import { completeKind } from '#apiserver/registry/kinds';
import { cannotBeHandled, type DecodedBody, type ExpectedBody, kindError, typeOfOther, unrecognized } from './expected-body.ts';
import { decodeDocument } from './resource-endpoint.ts';

/** Decodes a body in protobuf. */
export async function decodeProtobufBody(bytes: Buffer, expected: ExpectedBody, pace: Pace): Promise<DecodedBody> {
  if (bytes.length === 0) throw unrecognized(bytes, expected, 'empty data');
  if (!isProtobuf(bytes)) {
    throw unrecognized(bytes, expected, 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  }
  if (hasEmptyBody(bytes)) throw unrecognized(bytes, expected, 'empty body');
  const kind = await protobufKindOf(bytes, expected, pace);
  const problem = kindError(kind, expected);
  const type = problem ? typeOfOther(kind, expected, problem) : expected.type;
  try {
    const object = (await pace.either(
      () => decodeProtobuf(type, bytes),
      () => decodeProtobufSteps(type, bytes),
    )) as KubeObject;
    if (problem) throw problem;
    object.apiVersion = groupVersionString(expected.kind);
    object.kind = expected.kind.kind;
    object.metadata ??= {};
    return { object, strictErrors: [] };
  } catch (error) {
    if (error instanceof DecodeError) throw cannotBeHandled(problem ? kind : expected.kind, expected, error.message);
    throw error;
  }
}

/** Returns the kind of an envelope, completed by the expected one. */
async function protobufKindOf(bytes: Buffer, expected: ExpectedBody, pace: Pace): Promise<GroupVersionKind> {
  try {
    const sent = await pace.run(protobufKindSteps(bytes));
    return completeKind(sent.apiVersion, sent.kind, expected.kind);
  } catch (error) {
    if (error instanceof DecodeError) throw unrecognized(bytes, expected, error.message);
    throw error;
  }
}

/** Decodes an object of a built-in kind in CBOR. */
export async function decodeCborBody(bytes: Buffer, expected: ExpectedBody, pace: Pace): Promise<DecodedBody> {
  const sent = await cborKindOf(bytes, expected, pace);
  const kind = completeKind(sent.apiVersion, sent.kind, expected.kind);
  const problem = kindError(kind, expected);
  const type = problem ? typeOfOther(kind, expected, problem) : expected.type;
  try {
    const { object, strictError } = await pace.run(decodeCbor<KubeObject>(type, bytes));
    if (problem) throw problem;
    object.apiVersion = groupVersionString(expected.kind);
    object.kind = expected.kind.kind;
    object.metadata ??= {};
    return { object, strictErrors: strictError === undefined ? [] : [strictError] };
  } catch (error) {
    if (error instanceof DecodeError) throw cannotBeHandled(kind, expected, error.message);
    throw error;
  }
}

async function cborKindOf(bytes: Buffer, expected: ExpectedBody, pace: Pace): Promise<Pick<KubeObject, 'apiVersion' | 'kind'>> {
  try {
    return await pace.run(cborKind(bytes));
  } catch (error) {
    if (error instanceof DecodeError) throw unrecognized(bytes, expected, `unable to determine group/version/kind: ${error.message}`);
    throw error;
  }
}

/** Decodes a custom resource in CBOR. Upstream drops unknown fields silently in this case. */
export async function decodeCustomCbor(bytes: Buffer, expected: ExpectedBody, pace: Pace): Promise<DecodedBody> {
  try {
    const document = await pace.run(parseCborMap(bytes));
    const sent = customCborKindOf(document, bytes, expected);
    const { object } = await pace.run(decodeDocument(expected, document, pace));
    object.metadata ??= {};
    return { object, strictErrors: [], sent };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const sent = await cborKindOf(bytes, expected, pace);
    throw cannotBeHandled(completeKind(sent.apiVersion, sent.kind, expected.kind), expected, error.message);
  }
}

/** Returns kind and apiVersion; upstream treats values that are not strings as missing. */
function customCborKindOf(
  { kind, apiVersion }: Readonly<Record<string, unknown>>,
  bytes: Buffer,
  expected: ExpectedBody,
): GroupVersionKind {
  const missing = (what: string): string => `Object '${what}' is missing in '${diagnoseCbor(bytes)}'`;
  if (typeof kind !== 'string' || kind === '') throw unrecognized(bytes, expected, missing('Kind'));
  if (typeof apiVersion !== 'string' || apiVersion === '')
    throw cannotBeHandled({ group: '', version: '', kind }, expected, missing('apiVersion'));
  return { ...parseGroupVersion(apiVersion), kind };
}
