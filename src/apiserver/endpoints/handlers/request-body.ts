import type { Buffer } from 'node:buffer';
import { endAtDeadline, newBadRequest, newUnsupportedMediaType } from '#apimachinery/api/errors';
import type { GroupVersionKind, KubeObject } from '#apimachinery/meta/types';
import { groupVersionString, isGroupVersion, parseGroupVersion } from '#apimachinery/meta/types';
import type { Decoded } from '#apimachinery/runtime/decode';
import { cborKind, decodeCbor, parseCborMap } from '#apimachinery/runtime/cbor/cbor';
import { diagnoseCbor } from '#apimachinery/runtime/cbor/cbor-diagnostic';
import {
  DecodeError,
  encodePartlyRawJsonSteps,
  newOverflowError,
  type ParsedJson,
  parseJsonSteps,
  sortedKeysSteps,
} from '#apimachinery/runtime/json/json';
import { JsonSyntaxError } from '#apimachinery/runtime/json/json-syntax';
import { isContainer, isNumber, toFloat } from '#apimachinery/runtime/numbers';
import { mergeRepeatedKeys } from '#apimachinery/runtime/json/repeated-keys';
import { decodeProtobuf, decodeProtobufSteps, hasEmptyBody, isProtobuf, protobufKindSteps } from '#apimachinery/runtime/protobuf/protobuf';
import type { StructType } from '#apimachinery/runtime/schema';
import { quote } from '#apimachinery/runtime/quote';
import { surrounded, wordedErrors } from '#apimachinery/runtime/json/strict-errors';
import { type Pace, paceOf } from '#apimachinery/runtime/pace';
import { needsSteps, type Steps, untilTime } from '#apimachinery/runtime/steps';
import type { RequestContext } from '#apiserver/request/request-context';
import type { SharedBudget } from '#apiserver/request/shared-budget';
import type { ParsedYaml } from '#apimachinery/runtime/yaml/yaml';
import { readYaml } from '#apiserver/endpoints/yaml/yaml-thread';
import type { EndpointRestrictions } from './negotiation.ts';
import type { MediaType } from '#apiserver/request/media-type';
import { completeKind, foldedTypeMeta, isRegistered, type KindLookup, kindProblem, noKindRegistered } from '#apiserver/registry/kinds';
import { processBudgets } from './process-budgets.ts';
import { decodeDocument, type ResourceEndpoint } from './resource-endpoint.ts';

/** Returns the media type of a request's body; JSON if it has none. Throws UnsupportedMediaType (415). */
export function inputMediaType(
  context: RequestContext,
  { restrictions: { mediaTypes } }: Pick<ResourceEndpoint, 'restrictions'>,
): MediaType {
  const header = context.header('content-type');
  if (!header || header === 'application/json') return 'application/json';
  const mediaType = header.split(';', 1)[0]?.trim().toLowerCase() as MediaType;
  if (!mediaTypes.includes(mediaType) || !wellFormedParameters.test(header)) throw newUnsupportedMediaType(mediaTypes);
  return mediaType;
}

/** Go's mime.ParseMediaType: a parameter has a value, a token or quoted. */
const wellFormedParameters = /^[^;]*(?:;\s*[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"(?:[^"\\]|\\.)*")\s*)*;?\s*$/;

/** Maximum size of a request body. Upstream: server/config.go. */
export const maxRequestBodyBytes = 3 * 1024 * 1024;

/**
 * Reads the whole body of a request and records its size. A large body waits for room in the budgets, shared fairly among owners, which
 * are users by default, and holds it until the request is over. Rejects like `Exchange.readBody`.
 */
export function readRequestBody(context: RequestContext, { maxBytes, owner }: BodyLimits = usualLimits(context)): Promise<Buffer> {
  const { bodyLength, isInProcess } = context.exchange;
  const isLarge = !isInProcess && (bodyLength === undefined || needsSteps(bodyLength));
  const read = (isLarge ? readLargeBody(context, maxBytes, owner) : context.exchange.readBody(maxBytes)).then((body) => {
    context.requestBytes = body.length;
    context.span?.event('limitedReadBody succeeded', [['len', body.length]]);
    return body;
  });
  if (context.span)
    read.catch((error: Error) =>
      context.span?.event('limitedReadBody failed', [
        ['len', 0],
        ['err', error.message],
      ]),
    );
  return read;
}

/** Limits of a body that are not those of the API. */
export interface BodyLimits {
  readonly maxBytes: number;
  /** Name of the client whose bodies share the budgets. */
  readonly owner: string;
}

function usualLimits({ user }: RequestContext): BodyLimits {
  return { maxBytes: maxRequestBodyBytes, owner: user?.name ?? '' };
}

async function readLargeBody(context: RequestContext, maxBytes: number, owner: string): Promise<Buffer> {
  const { exchange } = context;
  await hold(processBudgets.arrivingBodies, context, owner, Math.min(exchange.bodyLength ?? maxBytes, maxBytes));
  const body = await exchange.readBody(maxBytes);
  if (needsSteps(body.length)) await hold(processBudgets.processedBodies, context, owner, body.length);
  return body;
}

/** Takes bytes from a budget until the request is over. Rejects with ClientGoneError. */
async function hold(budget: SharedBudget, context: RequestContext, owner: string, bytes: number): Promise<void> {
  const taken = budget.take(owner, bytes, (gone) => context.exchange.onClose(gone));
  context.whenSettled(taken instanceof Promise ? await taken : taken);
}

/** Expected object of a body. */
export interface ExpectedBody {
  readonly kind: GroupVersionKind;
  readonly type: StructType;
  /** Decoder of custom resources. They keep the kind that was sent, which their own validation checks. */
  readonly decode?: ((document: Record<string, unknown>) => Steps<Decoded<KubeObject>>) | undefined;
  readonly kinds: KindLookup;
  readonly restrictions: EndpointRestrictions;
  /** True if errors are returned without a note on the expected type, as for DeleteOptions. */
  readonly returnsPlainErrors?: boolean | undefined;
  /** Returns true for other accepted group versions of the kind (DeleteOptions and Eviction have several). */
  readonly alsoAccepts?: ((kind: GroupVersionKind) => boolean) | undefined;
}

export interface DecodedBody {
  readonly object: KubeObject;
  /**
   * Errors such as `unknown field "spec.x"` and `duplicate field "data.a"`; can be iterated once. They are formatted lazily,
   * because there may be 200,000.
   */
  readonly strictErrors: Iterable<string>;
  /** Kind as sent of a custom resource or of another version, whose apiVersion is checked after the fields: `applyFieldValidation`. */
  readonly sent?: GroupVersionKind;
}

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
  let raw: unknown;
  let duplicates: readonly string[];
  let yamlErrors: readonly string[];
  let hasFloats: ParsedJson['hasFloats'] | undefined;
  let overflow: ParsedJson['overflow'];
  let repeatedKeys: ParsedJson['repeatedKeys'];
  try {
    const parsing = parse(bytes, mediaType, expected.decode ? 'refuse' : 'keep', pace);
    const parsed = parsing instanceof Promise ? await parsing : parsing;
    raw = parsed.value;
    const { duplicateError } = parsed as Partial<ParsedYaml>;
    yamlErrors = duplicateError === undefined ? [] : [duplicateError];
    ({ duplicateFields: duplicates = [], hasFloats, overflow, repeatedKeys } = parsed as Partial<ParsedJson>);
  } catch (error) {
    if (error instanceof JsonSyntaxError)
      throw unrecognized(bytes, expected, `couldn't get version/kind; json parse error: ${error.message}`);
    if (error instanceof DecodeError && expected.decode) throw cannotBeHandled(expected.kind, expected, error.message);
    if (error instanceof DecodeError || (error as Error).name === 'YamlError')
      throw unrecognized(bytes, expected, (error as Error).message);
    throw error;
  }
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

function parse(
  bytes: Buffer,
  mediaType: MediaType,
  overflow: 'refuse' | 'keep',
  pace: Pace,
): ParsedJson | ParsedYaml | Promise<ParsedJson | ParsedYaml> {
  if (mediaType === 'application/yaml') return readYaml(bytes);
  return pace.run(parseJsonSteps(bytes, undefined, overflow));
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

const yamlPrefix = /^(?:error converting YAML to JSON: )?yaml: unmarshal errors:\n/;

/**
 * Yields the warnings of an error; a YAML error has one line for each duplicate key. Upstream: handlers/rest.go
 * (parseYAMLWarnings).
 */
function* warningsOf(error: string): Generator<string> {
  const prefix = yamlPrefix.exec(error)?.[0];
  if (prefix === undefined) return yield error;
  for (let from = prefix.length; from <= error.length; ) {
    const end = error.indexOf('\n', from);
    const to = end < 0 ? error.length : end;
    yield error.slice(from, to).trim();
    from = to + 1;
  }
}

/** Adds warnings for strict errors until the limit. Upstream: handlers/rest.go (addStrictDecodingWarnings). */
export function warnOf(context: RequestContext, errors: Iterable<string>): void {
  for (const error of errors) {
    for (const warning of warningsOf(error)) {
      context.warn(warning);
      if (!context.takesWarnings) return;
    }
  }
}

/** Upstream's message about an untyped object whose apiVersion has no version. */
export const versionIsMissing = "Object 'apiVersion' is missing in 'object has no apiVersion field'";

/**
 * Applies `fieldValidation`: Strict throws BadRequest, Warn adds warnings, Ignore does nothing. Then throws BadRequest for a custom
 * resource of another version.
 */
export function applyFieldValidation(
  context: RequestContext,
  { strictErrors, sent }: Pick<DecodedBody, 'strictErrors' | 'sent'>,
  validation: 'Ignore' | 'Warn' | 'Strict',
  expected: { readonly kind: GroupVersionKind },
): void {
  if (validation === 'Warn') warnOf(context, strictErrors);
  else if (validation === 'Strict') refuseStrictErrors([...strictErrors], sent ?? expected.kind);
  if (sent) checkCustomVersion(sent, expected.kind);
}

function refuseStrictErrors(all: readonly string[], { kind, version }: GroupVersionKind): void {
  if (all.length === 0) return;
  if (version === '') throw newBadRequest(versionIsMissing);
  throw newBadRequest(`${kind} in version ${quote(version)} cannot be handled as a ${kind}: strict decoding error: ${all.join(', ')}`);
}

async function decodeProtobufBody(bytes: Buffer, expected: ExpectedBody, pace: Pace): Promise<DecodedBody> {
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

/** Returns the type of another kind than the expected one; throws the problem if it is not known. */
function typeOfOther(kind: GroupVersionKind, expected: ExpectedBody, problem: Error): StructType {
  const isKnown = !expected.returnsPlainErrors && isRegistered(expected.kinds, kind, expected.kind);
  const type = isKnown ? expected.kinds.typeOf(kind) : undefined;
  if (!type) throw problem;
  return type;
}

async function decodeCborBody(bytes: Buffer, expected: ExpectedBody, pace: Pace): Promise<DecodedBody> {
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
async function decodeCustomCbor(bytes: Buffer, expected: ExpectedBody, pace: Pace): Promise<DecodedBody> {
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

function kindOf(raw: unknown, bytes: Buffer, expected: ExpectedBody, order: 'given' | 'sorted'): GroupVersionKind {
  const { apiVersion, kind, problem } = foldedTypeMeta(raw, order);
  if (problem) throw unrecognized(bytes, expected, `couldn't get version/kind; json parse error: ${problem}`);
  if (apiVersion && !isGroupVersion(apiVersion)) throw unrecognized(bytes, expected, `unexpected GroupVersion string: ${apiVersion}`);
  return completeKind(apiVersion, kind, expected.kind);
}

/** Returns the error of an object of another kind than the expected one. */
function kindError(kind: GroupVersionKind, expected: ExpectedBody): Error | undefined {
  const want = expected.kind;
  if (kind.kind === want.kind && kind.group === want.group && kind.version === want.version) return undefined;
  if (expected.alsoAccepts?.(kind)) return undefined;
  const known = !expected.returnsPlainErrors && isRegistered(expected.kinds, kind, want);
  if (known && kind.kind === want.kind) {
    return newBadRequest(
      `the API version in the data (${groupVersionString(kind)}) does not match the expected API version (${groupVersionString(want)})`,
    );
  }
  return cannotBeHandled(
    kind,
    expected,
    known ? kindProblem(expected.kinds, kind, want) : noKindRegistered(kind.kind, groupVersionString(kind)),
  );
}

/** Returns the kind of a custom resource, which may be any. */
function customKindOf(object: Partial<KubeObject> | null, bytes: Buffer, expected: ExpectedBody): GroupVersionKind {
  if (!object?.kind) throw unrecognized(bytes, expected, `Object 'Kind' is missing in '${bytes.toString('utf8')}'`);
  return { ...parseGroupVersion(object.apiVersion ?? ''), kind: object.kind };
}

/** Requires the endpoint's version. */
function checkCustomVersion(sent: GroupVersionKind, expected: GroupVersionKind): void {
  const [apiVersion, want] = [groupVersionString(sent), groupVersionString(expected)];
  if (apiVersion !== want)
    throw newBadRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${want})`);
}

function cannotBeHandled(kind: GroupVersionKind, expected: ExpectedBody, cause: string): Error {
  if (expected.returnsPlainErrors) return newBadRequest(cause);
  return newBadRequest(`${kind.kind} in version ${JSON.stringify(kind.version)} cannot be handled as a ${expected.kind.kind}: ${cause}`);
}

const summaryBytes = 30;

function unrecognized(bytes: Buffer, expected: ExpectedBody, cause: string): Error {
  if (expected.returnsPlainErrors) return newBadRequest(cause);
  return newBadRequest(`the object provided is unrecognized (must be of type ${expected.kind.kind}): ${cause} (${summarize(bytes)})`);
}

function summarize(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>';
  const head = bytes.subarray(0, summaryBytes);
  const text = bytes[0] === 123 ? head.toString('utf8') : head.toString('hex');
  return bytes.length > summaryBytes ? `${text} ...` : text;
}
