import { defaultsOf } from '#apiserver/registry/defaulting';
import { Injectable, UseInterceptors } from '@nestjs/common';
import {
  endAtDeadline,
  newBadRequest,
  newInternalError,
  newInvalid,
  newNotFound,
  newStatus,
  newUnsupportedMediaType,
  StatusError,
} from '#apimachinery/api/errors';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { groupVersionString, isGroupVersion, type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import { formatValueSteps } from '#apimachinery/patch/format-value';
import { interpretPatchError } from '#apimachinery/patch/interpret-patch-error';
import { applyJsonPatchSteps, decodeJsonPatchSteps, jsonKind, maxAccumulatedCopySize } from '#apimachinery/patch/json-patch';
import { applyMergePatch, checkMergePatch } from '#apimachinery/patch/merge-patch';
import { getOwn, isEmptyObject, isJsonObject, type JsonObject, setOwn } from '#apimachinery/patch/own-property';
import { applyStrategicMergePatchSteps } from '#apimachinery/patch/strategic-merge-patch';
import type { Decoded } from '#apimachinery/runtime/decode';
import { hasRawContent } from '#apimachinery/runtime/raw-content';
import { copyObject, copyObjectSteps } from '#apimachinery/managedfields/copy-object';
import { deepCopySteps } from '#apimachinery/runtime/copy';
import { compareUtf8, DecodeError, encodePartlyRawJsonSteps, parseJsonSteps, sortedKeysSteps } from '#apimachinery/runtime/json/json';
import { JsonSyntaxError } from '#apimachinery/runtime/json/json-syntax';
import { mergeRepeatedKeys, parseWithRepeatedKeys, plainJson, resolveRepeatedKeys } from '#apimachinery/runtime/json/repeated-keys';
import { isContainer } from '#apimachinery/runtime/numbers';
import { type Pace, paceOf } from '#apimachinery/runtime/pace';
import { quoteSteps } from '#apimachinery/runtime/quote';
import type { Type } from '#apimachinery/runtime/schema';
import { sortedSteps } from '#apimachinery/runtime/sorting';
import { oneStep, type Steps, untilTime } from '#apimachinery/runtime/steps';
import { keysOf } from '#apimachinery/runtime/wide-objects';
import { fieldPath, invalid, JsonText } from '#apimachinery/validation/field';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import type { AuditContext } from '#apiserver/request/audit-context';
import type { RequestContext } from '#apiserver/request/request-context';
import { readYaml } from '#apiserver/endpoints/yaml/yaml-thread';
import { type AppliedForm, applyObject } from './apply.ts';
import { negotiate, RouteError, servesCbor } from './negotiation.ts';
import { respondObject } from './object-responses.ts';
import { parseWriteOptions, type WriteQuery } from './query-options.ts';
import { strictErrors, surrounded } from '#apimachinery/runtime/json/strict-errors';
import { readRequestBody, versionIsMissing, warnOf } from './request-body.ts';
import { internalKindProblem, kindProblem, typeMetaProblem } from '#apiserver/registry/kinds';
import { decodeDocument, fromStorage, type ResourceEndpoint } from './resource-endpoint.ts';
import { newWriteRequest } from './write-request.ts';
import { ensureNameMatches } from '#apiserver/registry/name-scope';
import { ensureNamespaceMatches } from '#apiserver/registry/namespace-scope';

export type PatchType =
  | 'application/json-patch+json'
  | 'application/merge-patch+json'
  | 'application/strategic-merge-patch+json'
  | 'application/apply-patch+yaml'
  | 'application/apply-patch+cbor';
/** Patch types of built-in resources. */
const patchTypes: readonly PatchType[] = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];
/** Patch types of custom resources, which have no merge keys and therefore no strategic merge patch. */
const customPatchTypes = patchTypes.filter((type) => type !== 'application/strategic-merge-patch+json');
const patchTypesWithCbor: readonly PatchType[] = [...patchTypes, 'application/apply-patch+cbor'];
const customPatchTypesWithCbor: readonly PatchType[] = [...customPatchTypes, 'application/apply-patch+cbor'];

/** Returns the patch types that an endpoint accepts. */
export function patchTypesOf({ definition, restrictions }: ResourceEndpoint): readonly PatchType[] {
  if (servesCbor(restrictions)) return definition.custom ? customPatchTypesWithCbor : patchTypesWithCbor;
  return definition.custom ? customPatchTypes : patchTypes;
}

/** Returns the encoding of an apply patch; undefined for other patches. */
export function appliedForm(type: PatchType): AppliedForm | undefined {
  if (type === 'application/apply-patch+yaml') return 'application/yaml';
  return type === 'application/apply-patch+cbor' ? 'application/cbor' : undefined;
}

/**
 * Returns the error of an unsupported patch type. For built-in resources upstream's router responds, with the status code only and
 * in the standard media types.
 */
export function unsupportedPatchType(context: RequestContext, endpoint: ResourceEndpoint): StatusError {
  if (endpoint.definition.custom) return newUnsupportedMediaType(patchTypesOf(endpoint));
  context.mediaTypes = undefined;
  context.measured = undefined;
  return new RouteError(newStatus(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {}));
}

/** True if the endpoint takes patches of the request's content type. */
export function isPatchType(context: RequestContext, endpoint: ResourceEndpoint): boolean {
  return patchTypesOf(endpoint).includes(patchTypeOf(context));
}

/** Returns the content type without its parameters. */
function patchTypeOf(context: RequestContext): PatchType {
  return (context.header('content-type') ?? '').split(';', 1)[0]?.trim() as PatchType;
}

/** PATCH of an object. Upstream: endpoints/handlers/patch.go. */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class PatchHandler {
  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const patchType = patchTypeOf(context);
    if (!isPatchType(context, endpoint)) throw unsupportedPatchType(context, endpoint);
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
    const body = await readRequestBody(context);
    if (context.audit?.recordsRequest) await notePatch(context.audit, body);
    context.span?.event('Recorded the audit event');
    const form = appliedForm(patchType);
    const options = parseWriteOptions(context.searchParams, 'PatchOptions', form !== undefined);
    if (form) {
      const applied = await applyObject(context, endpoint, { form, bytes: body }, options);
      context.span?.event('Object stored in database');
      return respondObject(context, endpoint, applied.created ? 201 : 200, applied.bytes, negotiated);
    }
    const { namespace, name } = context.info;
    const patch = await readPatch(context, endpoint, patchType, body, options);
    const request = newWriteRequest(context, endpoint, options, patch.mostBytes);
    const stored = await endpoint.store.update(
      request,
      name,
      async (existing, pace) => {
        if (!existing) throw newNotFound(endpoint.store.groupResource, name);
        context.span?.event('About to apply patch');
        // Patches a copy, because the result shares unchanged parts, and the stored object must not be modified.
        const patching = patch.toApply().applyTo(function* () {
          return fromStorage(endpoint, pace.isImmediate ? copyObject(existing) : yield* copyObjectSteps(existing));
        }, pace);
        const next = await pace.run(patching);
        ensureNamespaceMatches(endpoint.definition, namespace, next);
        ensureNameMatches(name, next);
        const object = endpoint.conversion ? endpoint.conversion.toStorage(next) : next;
        context.span?.event('About to check admission control');
        await request.admit('UPDATE', object, existing, pace);
        return object;
      },
      { strategy: endpoint.strategy },
    );
    context.span?.event('Object stored in database');
    return respondObject(context, endpoint, 200, stored.bytes, negotiated);
  }
}

/** A patch that was read, or the error of an invalid one. */
export interface ReadPatch {
  readonly mostBytes: number;
  /** Throws the error of a patch that is invalid whatever it is applied to. Upstream finds it after it has read the object. */
  toApply(): Patch;
}

/** Reads a patch whose errors follow those of a missing object. */
export async function readPatch(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  type: PatchType,
  body: Buffer,
  options: WriteQuery,
): Promise<ReadPatch> {
  try {
    const patch = await paceOf(body.length).run(Patch.read({ context, endpoint, type, body, options }));
    return { mostBytes: patch.mostBytes, toApply: () => patch };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return {
      mostBytes: body.length,
      toApply: () => {
        throw error;
      },
    };
  }
}

/** Records a patch of a request whose audit level wants it. */
export async function notePatch(audit: AuditContext, body: Buffer): Promise<void> {
  let patch: unknown;
  try {
    patch = (await readYaml(body)).value;
  } catch {
    // The body is neither JSON nor YAML; nothing is recorded, and the request is rejected later.
    return;
  }
  audit.requestPatch(patch);
}

const nameless = { apiVersion: '', kind: '' };

const metaFields = () => metaSchema.struct('meta_v1.ObjectMeta').fields;

/** Number of values that are visited between two yields. */
const valuesPerStep = 512;

/** Records the objects that a merge patch visited or added, which upstream holds as maps. */
function* noteMerged(patched: unknown, patch: unknown, sorted: WeakSet<object>): Steps<void> {
  const pending: unknown[] = [patched, patch];
  let visited = 0;
  const note = function* (value: unknown, changes: unknown): Steps<void> {
    if (isContainer(value) && isContainer(changes) && !isEmptyObject(value)) pending.push(value, changes);
    if (++visited % valuesPerStep === 0) yield;
  };
  while (pending.length > 0) {
    const changes = pending.pop();
    const value = pending.pop();
    if (++visited % valuesPerStep === 0) yield;
    if (Array.isArray(value) && Array.isArray(changes)) for (const [i, item] of value.entries()) yield* note(item, changes[i]);
    if (!isJsonObject(value) || !isJsonObject(changes)) continue;
    sorted.add(value);
    for (const key of keysOf(changes)) yield* note(getOwn(value, key), changes[key]);
  }
}

/**
 * Puts the fields of structs in the order of their declarations, in which upstream's converter reads them. Lists and maps are changed in
 * place.
 */
function* inTypeOrder(type: Type, root: unknown): Steps<unknown> {
  const result: JsonObject = { root };
  // An explicit stack, since documents may be as deep as JSON.
  const pending: [container: JsonObject | unknown[], key: string | number, type: Type][] = [[result, 'root', type]];
  let visited = 0;
  while (pending.length > 0) {
    const [container, key, type] = pending.pop()!;
    if (++visited % valuesPerStep === 0) yield;
    const value = (container as JsonObject)[key];
    const visit = function* (within: JsonObject | unknown[], at: string | number, type: Type): Steps<void> {
      const item = (within as JsonObject)[at];
      if (isContainer(item) && !isEmptyObject(item)) pending.push([within, at, type]);
      if (++visited % valuesPerStep === 0) yield;
    };
    if (type.kind === 'list' && Array.isArray(value)) for (const i of value.keys()) yield* visit(value, i, type.items);
    else if (type.kind === 'map' && isJsonObject(value)) for (const name of keysOf(value)) yield* visit(value, name, type.values);
    else if (type.kind === 'struct' && isJsonObject(value)) {
      const ordered: JsonObject = {};
      if (Array.isArray(container)) container[key as number] = ordered;
      else setOwn(container, key as string, ordered);
      for (const [name, field] of type.fields) {
        if (!Object.hasOwn(value, name)) continue;
        ordered[name] = value[name];
        yield* visit(ordered, name, field.type);
      }
      for (const name of keysOf(value)) {
        if (!type.fields.has(name)) setOwn(ordered, name, value[name]);
        if (++visited % valuesPerStep === 0) yield;
      }
    }
  }
  return result['root'];
}

/** A patch of a request. */
interface PatchInput {
  readonly context: RequestContext;
  readonly endpoint: ResourceEndpoint;
  readonly type: PatchType;
  readonly body: Buffer;
  readonly options: WriteQuery;
}

interface PatchContent {
  readonly parsed: unknown;
  readonly strictErrors: readonly string[];
  /** True if `parsed` has repeated keys, which upstream finds once more where they become part of the object. */
  readonly hasRepeatedKeys?: boolean;
}

/** Parses and checks a patch. Throws JsonSyntaxError, DecodeError or StatusError. */
function* contentOf({ type, body, options }: PatchInput): Steps<PatchContent> {
  const { value, duplicateFields, repeatedKeys } = yield* parseJsonSteps(body);
  const validates = options.fieldValidation !== 'Ignore';
  if (type === 'application/json-patch+json') {
    const { operations, strictErrors } = yield* decodeJsonPatchSteps(value, { isStrict: validates, duplicateFields });
    if (!repeatedKeys) return { parsed: operations, strictErrors };
    const parsed = (yield* parseWithRepeatedKeys(body, repeatedKeys)) as readonly (JsonObject | null)[];
    for (const operation of parsed) if (operation) resolveRepeatedKeys(operation);
    return { parsed: parsed.map((operation) => operation ?? {}), strictErrors, hasRepeatedKeys: true };
  }
  const errors = strictErrors([], duplicateFields);
  if (type !== 'application/strategic-merge-patch+json') {
    if (validates && type === 'application/merge-patch+json') checkMergePatch(value);
    return { parsed: value, strictErrors: errors };
  }
  if (!isJsonObject(value) && value !== null)
    throw newBadRequest(`json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`);
  return { parsed: value ?? {}, strictErrors: errors };
}

/** A JSON, merge or strategic merge patch. It is parsed once and applied for each attempt of the compare-and-swap. */
export class Patch {
  readonly context: RequestContext;
  readonly endpoint: ResourceEndpoint;
  readonly type: PatchType;
  readonly options: WriteQuery;
  readonly #body: Buffer;
  readonly #parsed: unknown;
  readonly #strictErrors: readonly string[];
  readonly #hasRepeatedKeys: boolean;
  /** Objects that the patch visited. Go holds them as maps, which it encodes with sorted keys. */
  readonly #sorted = new WeakSet<object>();

  private constructor(
    { context, endpoint, type, body, options }: PatchInput,
    { parsed, strictErrors, hasRepeatedKeys = false }: PatchContent,
  ) {
    this.context = context;
    this.endpoint = endpoint;
    this.type = type;
    this.options = options;
    this.#body = body;
    this.#parsed = parsed;
    this.#strictErrors = strictErrors;
    this.#hasRepeatedKeys = hasRepeatedKeys;
  }

  /**
   * Size of the patch, with what its copies may add to the object: an object of 100 KiB that is copied five times into itself has 3 MiB.
   * A single copy only doubles it.
   */
  get mostBytes(): number {
    const { length } = this.#body;
    if (this.type !== 'application/json-patch+json') return length;
    const copies = (this.#parsed as readonly JsonObject[]).filter((operation) => getOwn(operation, 'op') === 'copy').length;
    return length + (copies > 1 ? maxAccumulatedCopySize : 0);
  }

  /** Parses a patch. Throws BadRequest for an invalid patch of its type. */
  static *read(input: PatchInput): Steps<Patch> {
    const { type, options } = input;
    try {
      return new Patch(input, yield* contentOf(input));
    } catch (error) {
      if (!(error instanceof JsonSyntaxError || error instanceof DecodeError)) throw error;
      const decoding = options.fieldValidation !== 'Ignore' && type !== 'application/strategic-merge-patch+json';
      if (!decoding && type === 'application/merge-patch+json') throw newBadRequest('Invalid JSON Patch');
      throw newBadRequest(decoding ? `error decoding patch: ${error.message}` : error.message);
    }
  }

  /**
   * Returns the patched object, decoded and defaulted. `current` returns a copy of the object in the endpoint's version, which the
   * patch may modify. A large result is decoded in chunks.
   */
  *applyTo(current: () => Steps<KubeObject>, pace: Pace): Steps<KubeObject> {
    const { endpoint, options } = this;
    const copy = yield* current();
    yield;
    const patched = yield* this.#apply(copy);
    yield;
    yield* this.#checkTypeMeta(patched);
    let decoded: Decoded<KubeObject>;
    let resultErrors: readonly string[] | undefined;
    try {
      if (this.#hasRepeatedKeys) ({ decoded, strictErrors: resultErrors } = yield* this.#decodeRepeated(patched, pace));
      // Errors contain the whole document, so it is copied: decoding by a schema drops unknown fields.
      else
        decoded = yield* decodeDocument(
          endpoint,
          endpoint.decode ? yield* deepCopySteps(patched) : patched,
          pace,
          this.#isStrategic ? { form: 'unstructured' } : undefined,
        );
    } catch (error) {
      if (error instanceof DecodeError) throw yield* this.#undecodable(current, error);
      throw error;
    }
    const { object } = decoded;
    const wrongKind = this.#wrongKind(object);
    if (wrongKind !== undefined) throw yield* this.#undecodable(current, new DecodeError(wrongKind));
    const form = endpoint.decode || this.#isStrategic ? surrounded : undefined;
    const errors = yield* this.#errorsOf(resultErrors ?? strictErrors(decoded.unknownFields, [], form));
    if (errors.length > 0 && options.fieldValidation === 'Strict')
      throw yield* this.#undecodable(current, new DecodeError(`strict decoding error: ${errors.join(', ')}`));
    if (options.fieldValidation === 'Warn') warnOf(this.context, errors);
    if (endpoint.decode && !parseGroupVersion(object.apiVersion ?? '').version) throw newInternalError(versionIsMissing);
    object.metadata ??= {};
    try {
      yield* defaultsOf(endpoint.definition, object);
    } catch (error) {
      if ((error as Error).cause instanceof DecodeError) throw yield* this.#undecodable(current, (error as Error).cause as DecodeError);
      throw error;
    }
    return object;
  }

  /** Decodes a document whose objects may have repeated keys, like the body of a request. */
  *#decodeRepeated(patched: unknown, pace: Pace): Steps<{ decoded: Decoded<KubeObject>; strictErrors: readonly string[] }> {
    const { endpoint } = this;
    const bytes = Buffer.from(yield* this.#shown(patched));
    const { value, duplicateFields, repeatedKeys } = yield* parseJsonSteps(bytes, undefined, 'keep');
    const merged = repeatedKeys && !endpoint.decode ? yield* mergeRepeatedKeys(endpoint.type, bytes, repeatedKeys) : undefined;
    const decoded = yield* decodeDocument(endpoint, merged ? merged.value : value, pace);
    if (merged) return { decoded, strictErrors: merged.strictErrors };
    const form = endpoint.decode && surrounded;
    return { decoded, strictErrors: [...strictErrors([], duplicateFields), ...strictErrors(decoded.unknownFields, [], form)] };
  }

  /**
   * Returns the error of a patched document that cannot be decoded, with the document. Decoding may have modified the document and
   * the patch, so both are rebuilt.
   */
  *#undecodable(current: () => Steps<KubeObject>, { message }: DecodeError): Steps<Error> {
    const { context, endpoint, type, options } = this;
    const again = yield* Patch.read({ context, endpoint, type, body: this.#body, options });
    const patched = yield* again.#apply(yield* current());
    return yield* again.#invalid(
      patched,
      this.type === 'application/json-patch+json' ? message : yield* again.#firstProblem(patched, message),
    );
  }

  /** Returns the strict errors of the patch and its result. */
  *#errorsOf(unknown: readonly string[]): Steps<string[]> {
    // The decoder of custom resources names them in upstream's order.
    const isOrdered = this.type === 'application/json-patch+json' || this.endpoint.decode !== undefined;
    const sorted = isOrdered ? unknown : yield* sortedSteps([...unknown], compareUtf8);
    return [...this.#strictErrors, ...sorted];
  }

  /** Throws upstream's error for a patched document with another apiVersion or kind than a text, or without one. */
  *#checkTypeMeta(patched: unknown): Steps<void> {
    if (this.#isStrategic) return;
    const wrongType = typeMetaProblem(patched);
    if (wrongType !== undefined || !isJsonObject(patched))
      throw yield* this.#invalid(patched, `couldn't get version/kind; json parse error: ${wrongType}`);
    const apiVersion = getOwn(patched, 'apiVersion') as string | null | undefined;
    const kind = getOwn(patched, 'kind') as string | null | undefined;
    if (this.endpoint.decode) yield* this.#checkCustomTypeMeta(patched, apiVersion, kind);
    else if (!apiVersion) yield* this.#refuseVersionless(patched, kind);
  }

  /** Upstream: unstructured/helpers.go (UnstructuredJSONScheme), and the conversion of a custom resource to the stored version. */
  *#checkCustomTypeMeta(patched: JsonObject, apiVersion: string | null | undefined, kind: string | null | undefined): Steps<void> {
    if (apiVersion && !isGroupVersion(apiVersion)) throw yield* this.#invalid(patched, `unexpected GroupVersion string: ${apiVersion}`);
    if (!kind) throw yield* this.#invalid(patched, `Object 'Kind' is missing in '${yield* this.#shown(patched)}'`);
    if (apiVersion === null) throw yield* this.#invalid(patched, '.apiVersion accessor error: <nil> is of the type <nil>, expected string');
  }

  /**
   * Upstream decodes a built-in kind without a version as its internal Go type, which embeds the metadata: the root has only the fields of
   * the metadata, and the object has no name.
   */
  *#refuseVersionless(patched: JsonObject, kind: string | null | undefined): Steps<void> {
    const { options, context, endpoint } = this;
    if (kind && kind !== endpoint.kind.kind) {
      throw yield* this.#invalid(patched, internalKindProblem(endpoint.kinds, kind, endpoint.kind));
    }
    const unknown = Object.keys(patched).filter((key) => key !== 'apiVersion' && key !== 'kind' && !metaFields().has(key));
    const errors = yield* this.#errorsOf(strictErrors(unknown, []));
    if (errors.length > 0 && options.fieldValidation === 'Strict') {
      throw yield* this.#invalid(patched, `strict decoding error: ${errors.join(', ')}`);
    }
    if (options.fieldValidation === 'Warn') warnOf(context, errors);
    const name = getOwn(patched, 'name');
    ensureNameMatches(context.info.name, { ...nameless, metadata: typeof name === 'string' && name !== context.info.name ? { name } : {} });
  }

  /**
   * Returns the first error in the order in which upstream decodes a merged document: by sorted keys, after a strategic merge by the
   * fields of the type.
   */
  *#firstProblem(patched: unknown, message: string): Steps<string> {
    const { endpoint } = this;
    try {
      const sorted = yield* parseJsonSteps(yield* encodePartlyRawJsonSteps(patched, sortedKeysSteps), undefined, 'keep');
      if (this.#isStrategic) {
        const ordered = yield* inTypeOrder(endpoint.type, sorted.value);
        yield* decodeDocument(endpoint, ordered, paceOf(this.mostBytes), { form: 'unstructured' });
      } else yield* decodeDocument(endpoint, sorted.value, paceOf(this.mostBytes));
      return message;
    } catch (error) {
      if (error instanceof DecodeError) return error.message;
      throw error;
    }
  }

  /** True if upstream decodes the result with its converter of unstructured objects. */
  get #isStrategic(): boolean {
    return this.type === 'application/strategic-merge-patch+json';
  }

  *#apply(document: KubeObject): Steps<unknown> {
    try {
      switch (this.type) {
        case 'application/json-patch+json':
          return yield* this.#inTime(applyJsonPatchSteps(document, this.#parsed, this.#sorted, this.#hasRepeatedKeys));
        case 'application/merge-patch+json':
          return yield* applyMergePatch(document, this.#parsed, !this.endpoint.decode && hasRawContent(this.endpoint.type));
        default:
          return yield* this.#inTime(applyStrategicMergePatchSteps(document, this.#parsed as Record<string, unknown>, this.endpoint.type));
      }
    } catch (error) {
      throw interpretPatchError(error);
    }
  }

  /** Ends patches at the deadline of the request; some would take hours. */
  #inTime<T>(steps: Steps<T>): Steps<T> {
    return untilTime(steps, this.context.deadline, endAtDeadline);
  }

  /** Completes a missing kind like upstream; returns the error of a wrong kind, undefined for the expected one. */
  #wrongKind(object: KubeObject): string | undefined {
    const { kind } = this.endpoint;
    const apiVersion = groupVersionString(kind);
    // A removed kind defaults to the expected one.
    if (!object.kind && !this.endpoint.decode) object.kind = kind.kind;
    // A custom resource's own validation checks its kind.
    if ((object.kind === kind.kind && object.apiVersion === apiVersion) || this.endpoint.decode) return undefined;
    if (this.#isStrategic) {
      object.kind = kind.kind;
      object.apiVersion = apiVersion;
      return undefined;
    }
    const actual = { ...parseGroupVersion(object.apiVersion ?? ''), kind: object.kind };
    if (!isGroupVersion(object.apiVersion ?? '')) return `unexpected GroupVersion string: ${object.apiVersion}`;
    return kindProblem(this.endpoint.kinds, actual, kind);
  }

  *#invalid(patched: unknown, message: string): Steps<Error> {
    const shown = new JsonText(yield* quoteSteps(yield* this.#shown(patched)));
    return newInvalid({ group: '', kind: '' }, '', [invalid(fieldPath('patch'), shown, message)]);
  }

  /** Returns the document as upstream shows it in errors. */
  *#shown(patched: unknown): Steps<string> {
    if (this.#isStrategic) return yield* formatValueSteps(this.#parsed);
    if (this.type !== 'application/json-patch+json') yield* noteMerged(patched, this.#parsed, this.#sorted);
    const keys = (object: object): Steps<readonly string[]> =>
      this.#sorted.has(object) ? sortedKeysSteps(object) : oneStep(() => keysOf(object));
    const json = yield* encodePartlyRawJsonSteps(patched, keys);
    return (this.#hasRepeatedKeys ? plainJson(json) : json).toString();
  }
}
