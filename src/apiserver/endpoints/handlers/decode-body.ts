import type { Buffer } from 'node:buffer';
import { endAtDeadline, newUnsupportedMediaType } from '#apimachinery/api/errors';
import { type GroupVersionKind, groupVersionString, type KubeObject } from '#apimachinery/meta/types';
import {
  DecodeError,
  encodePartlyRawJsonSteps,
  newOverflowError,
  type ParsedJson,
  parseJsonSteps,
  sortedKeysSteps,
} from '#apimachinery/runtime/json/json';
import { JsonSyntaxError } from '#apimachinery/runtime/json/json-syntax';
import { mergeRepeatedKeys } from '#apimachinery/runtime/json/repeated-keys';
import { surrounded, wordedErrors } from '#apimachinery/runtime/json/strict-errors';
import { isContainer, isNumber, toFloat } from '#apimachinery/runtime/numbers';
import { type Pace, paceOf } from '#apimachinery/runtime/pace';
import { type Steps, untilTime } from '#apimachinery/runtime/steps';
import type { ParsedYaml } from '#apimachinery/runtime/yaml/yaml';
import { readYaml } from '#apiserver/endpoints/yaml/yaml-thread';
import type { MediaType } from '#apiserver/request/media-type';
import { decodeCborBody, decodeCustomCbor, decodeProtobufBody } from './binary-body.ts';
import {
  cannotBeHandled,
  customKindOf,
  type DecodedBody,
  type ExpectedBody,
  kindError,
  kindOf,
  typeOfOther,
  unrecognized,
} from './expected-body.ts';
import { decodeDocument } from './resource-endpoint.ts';

/**
 * Decodes a body into an object of the expected kind. Throws BadRequest with upstream's message if it cannot be parsed, has another
 * kind, or values of the wrong type. Yields to the event loop if the body is large, until `deadline` (0: none). Upstream:
 * handlers/create.go and rest.go (transformDecodeError).
 */
export async function decodeBody(bytes: Buffer, mediaType: MediaType, expected: ExpectedBody, deadline = 0): Promise<DecodedBody> {
  const pace = paceUntil(deadline, bytes.length);
  if (mediaType === 'application/vnd.kubernetes.protobuf') {
    if (expected.decode) throw newUnsupportedMediaType(expected.restrictions.mediaTypes.filter((one) => one !== mediaType));
    return decodeProtobufBody(bytes, expected, pace);
  }
  if (mediaType === 'application/cbor')
    return expected.decode ? decodeCustomCbor(bytes, expected, pace) : decodeCborBody(bytes, expected, pace);
  let parsed: ParsedText;
  try {
    const parsing = parse(bytes, mediaType, expected.decode ? 'refuse' : 'keep', pace);
    parsed = parsing instanceof Promise ? await parsing : parsing;
  } catch (error) {
    throw unparsable(error, bytes, expected);
  }
  const { value: raw, duplicateError, duplicateFields: duplicates = [], hasFloats, overflow, repeatedKeys } = parsed;
  const yamlErrors = duplicateError === undefined ? [] : [duplicateError];
  await pace.rest();
  const completed = kindOf(raw, bytes, expected, mediaType === 'application/yaml' ? 'sorted' : 'given');
  const sent = expected.decode && customKindOf(raw as Partial<KubeObject>, bytes, expected);
  const problem = sent ? undefined : kindError(completed, expected);
  if (problem) return decodeOther(raw, completed, expected, problem, pace);
  const kind = sent ?? completed;
  try {
    const merged = repeatedKeys && !expected.decode ? await pace.run(mergeRepeatedKeys(expected.type, bytes, repeatedKeys)) : undefined;
    const decoding = pace.run(
      decodeDocument(expected, merged ? merged.value : raw, pace, {
        rawContent: mediaType === 'application/yaml' ? 'sorted' : 'kept',
        hasFloats,
      }),
    );
    const { object, unknownFields } = decoding instanceof Promise ? await decoding : decoding;
    await pace.rest();
    if (overflow !== undefined && !hasFiniteNumbers(object)) throw newOverflowError(overflow);
    object.metadata ??= {};
    if (sent) {
      const errors = inTurn(yamlErrors, wordedErrors([], duplicates), wordedErrors(unknownFields, [], surrounded));
      return { object, strictErrors: errors, sent };
    }
    object.apiVersion = groupVersionString(expected.kind);
    object.kind = expected.kind.kind;
    return { object, strictErrors: merged?.strictErrors ?? inTurn(yamlErrors, wordedErrors(unknownFields, [])) };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const message = mediaType === 'application/yaml' ? await firstYamlProblem(bytes, expected, error.message, pace) : error.message;
    throw cannotBeHandled(kind, expected, message);
  }
}

/** A document, with the faults and particularities that one of the two languages has. */
type ParsedText = Pick<ParsedJson, 'value'> & Partial<ParsedJson> & Partial<ParsedYaml>;

function parse(bytes: Buffer, mediaType: MediaType, overflow: 'refuse' | 'keep', pace: Pace): ParsedText | Promise<ParsedText> {
  if (mediaType === 'application/yaml') return readYaml(bytes);
  return pace.run(parseJsonSteps(bytes, undefined, overflow));
}

/** Returns the error of a text that cannot be parsed. */
function unparsable(error: unknown, bytes: Buffer, expected: ExpectedBody): unknown {
  const { message, name } = error as Error;
  if (error instanceof JsonSyntaxError) return unrecognized(bytes, expected, `couldn't get version/kind; json parse error: ${message}`);
  if (error instanceof DecodeError && expected.decode) return cannotBeHandled(expected.kind, expected, message);
  return error instanceof DecodeError || name === 'YamlError' ? unrecognized(bytes, expected, message) : error;
}

/** Returns the first wrong value of a YAML document in the order of its sorted keys, in which upstream decodes it. */
async function firstYamlProblem(bytes: Buffer, expected: ExpectedBody, message: string, pace: Pace): Promise<string> {
  const { value } = await readYaml(bytes);
  const sorted = await pace.run(encodePartlyRawJsonSteps(value, sortedKeysSteps));
  try {
    const document = await pace.run(parseJsonSteps(sorted, undefined, 'keep'));
    await pace.run(decodeDocument(expected, document.value, pace));
    return message;
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
}

/**
 * Decodes an object of another kind than the expected one, because upstream finds its wrong values before the wrong kind, and unknown
 * fields of another version before the wrong version.
 */
async function decodeOther(raw: unknown, kind: GroupVersionKind, expected: ExpectedBody, problem: Error, pace: Pace): Promise<DecodedBody> {
  const type = typeOfOther(kind, expected, problem);
  try {
    const { object, unknownFields } = await pace.run(decodeDocument({ type, decode: undefined }, raw, pace));
    if (kind.kind !== expected.kind.kind) throw problem;
    return { object, strictErrors: wordedErrors(unknownFields, []), sent: kind };
  } catch (error) {
    if (error instanceof DecodeError) throw cannotBeHandled(kind, expected, error.message);
    throw error;
  }
}

/** Returns the pace for work on a body of this size that ends at the deadline of its request (0: none). */
function paceUntil(deadline: number, bytes: number): Pace {
  const pace = paceOf(bytes);
  if (pace.isImmediate || deadline === 0) return pace;
  const run = <T>(steps: Steps<T>): T | Promise<T> => pace.run(untilTime(steps, deadline, endAtDeadline));
  return { ...pace, run, either: (_whole, chunked) => run(chunked()) };
}

/** True if all numbers of a value are finite. Iterative, so that deep values do not overflow the stack. */
function hasFiniteNumbers(root: unknown): boolean {
  const pending = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (isNumber(value) && typeof value !== 'bigint' && !Number.isFinite(toFloat(value))) return false;
    if (isContainer(value)) for (const key in value) pending.push((value as Record<string, unknown>)[key]);
  }
  return true;
}

function* inTurn<T>(...lists: readonly Iterable<T>[]): Generator<T> {
  for (const list of lists) yield* list;
}
