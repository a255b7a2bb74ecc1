import { Buffer } from 'node:buffer';
import { endAtDeadline, newInternalError, newInvalid, StatusError } from '#apimachinery/api/errors';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { groupVersionString, isGroupVersion, type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import { formatValueSteps } from '#apimachinery/patch/format-value';
import { interpretPatchError } from '#apimachinery/patch/interpret-patch-error';
import { applyJsonPatchSteps, maxAccumulatedCopySize } from '#apimachinery/patch/json-patch';
import { applyMergePatch } from '#apimachinery/patch/merge-patch';
import { getOwn, isJsonObject, type JsonObject } from '#apimachinery/patch/own-property';
import { applyStrategicMergePatchSteps } from '#apimachinery/patch/strategic-merge-patch';
import { deepCopySteps } from '#apimachinery/runtime/copy';
import { compareUtf8, DecodeError, encodePartlyRawJsonSteps, parseJsonSteps, sortedKeysSteps } from '#apimachinery/runtime/json/json';
import { mergeRepeatedKeys, plainJson } from '#apimachinery/runtime/json/repeated-keys';
import { strictErrors, surrounded } from '#apimachinery/runtime/json/strict-errors';
import { type Pace, paceOf } from '#apimachinery/runtime/pace';
import { quoteSteps } from '#apimachinery/runtime/quote';
import { hasRawContent } from '#apimachinery/runtime/raw-content';
import { sortedSteps } from '#apimachinery/runtime/sorting';
import { oneStep, type Steps, untilTime } from '#apimachinery/runtime/steps';
import { keysOf } from '#apimachinery/runtime/wide-objects';
import { fieldPath, invalid, JsonText } from '#apimachinery/validation/field';
import { defaultsOf } from '#apiserver/registry/defaulting';
import { internalKindProblem, kindProblem, typeMetaProblem } from '#apiserver/registry/kinds';
import { ensureNameMatches } from '#apiserver/registry/name-scope';
import { type PatchContent, type PatchInput, readPatchContent } from './patch-content.ts';
import { inTypeOrder, noteMerged } from './patch-order.ts';
import { versionIsMissing, warnOf } from './field-validation.ts';
import { decodeDocument } from './resource-endpoint.ts';

/** A patch that was read, or the error of an invalid one. */
export interface ReadPatch {
  readonly mostBytes: number;
  /** Throws the error of a patch that is invalid whatever it is applied to. Upstream finds it after it has read the object. */
  toApply(): Patch;
}

/** Reads a patch whose errors follow those of a missing object. */
export async function readPatch(input: PatchInput): Promise<ReadPatch> {
  const { body } = input;
  try {
    const patch = await paceOf(body.length).run(Patch.read(input));
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

const nameless = { apiVersion: '', kind: '' };

const metaFields = () => metaSchema.struct('meta_v1.ObjectMeta').fields;

/** An object that a patch resulted in, with the strict errors of the document. */
interface DecodedDocument {
  readonly object: KubeObject;
  readonly strictErrors: readonly string[];
}

/** A JSON, merge or strategic merge patch. It is parsed once and applied for each attempt of the compare-and-swap. */
export class Patch {
  /** Objects that the patch visited. Go holds them as maps, which it encodes with sorted keys. */
  readonly #sorted = new WeakSet<object>();

  private constructor(
    private readonly input: PatchInput,
    private readonly content: PatchContent,
  ) {}

  /**
   * Size of the patch, with what its copies may add to the object: an object of 100 KiB that is copied five times into itself has 3 MiB.
   * A single copy only doubles it.
   */
  get mostBytes(): number {
    const { length } = this.input.body;
    if (this.input.type !== 'application/json-patch+json') return length;
    const copies = (this.content.parsed as readonly JsonObject[]).filter((operation) => getOwn(operation, 'op') === 'copy').length;
    return length + (copies > 1 ? maxAccumulatedCopySize : 0);
  }

  /** Parses a patch. Throws BadRequest for an invalid patch of its type. */
  static *read(input: PatchInput): Steps<Patch> {
    return new Patch(input, yield* readPatchContent(input));
  }

  /**
   * Returns the patched object, decoded and defaulted. `current` returns a copy of the object in the endpoint's version, which the
   * patch may modify. A large result is decoded in chunks.
   */
  *applyTo(current: () => Steps<KubeObject>, pace: Pace): Steps<KubeObject> {
    const { endpoint, options } = this.input;
    const copy = yield* current();
    yield;
    const patched = yield* this.#apply(copy);
    yield;
    yield* this.#checkTypeMeta(patched);
    let decoded: DecodedDocument;
    try {
      decoded = yield* this.#decode(patched, pace);
    } catch (error) {
      if (error instanceof DecodeError) throw yield* this.#undecodable(current, error);
      throw error;
    }
    const { object } = decoded;
    const wrongKind = this.#wrongKind(object);
    if (wrongKind !== undefined) throw yield* this.#undecodable(current, new DecodeError(wrongKind));
    const errors = yield* this.#errorsOf(decoded.strictErrors);
    if (errors.length > 0 && options.fieldValidation === 'Strict')
      throw yield* this.#undecodable(current, new DecodeError(`strict decoding error: ${errors.join(', ')}`));
    if (options.fieldValidation === 'Warn') warnOf(this.input.context, errors);
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

  *#decode(patched: unknown, pace: Pace): Steps<DecodedDocument> {
    if (this.content.hasRepeatedKeys) return yield* this.#decodeRepeated(patched, pace);
    const { endpoint } = this.input;
    // Errors contain the whole document, so it is copied: decoding by a schema drops unknown fields.
    const document = endpoint.decode ? yield* deepCopySteps(patched) : patched;
    const how = this.#isStrategic ? ({ form: 'unstructured' } as const) : undefined;
    const { object, unknownFields } = yield* decodeDocument(endpoint, document, pace, how);
    const form = endpoint.decode || this.#isStrategic ? surrounded : undefined;
    return { object, strictErrors: strictErrors(unknownFields, [], form) };
  }

  /** Decodes a document whose objects may have repeated keys, like the body of a request. */
  *#decodeRepeated(patched: unknown, pace: Pace): Steps<DecodedDocument> {
    const { endpoint } = this.input;
    const bytes = Buffer.from(yield* this.#shown(patched));
    const { value, duplicateFields, repeatedKeys } = yield* parseJsonSteps(bytes, undefined, 'keep');
    const merged = repeatedKeys && !endpoint.decode ? yield* mergeRepeatedKeys(endpoint.type, bytes, repeatedKeys) : undefined;
    const { object, unknownFields } = yield* decodeDocument(endpoint, merged ? merged.value : value, pace);
    if (merged) return { object, strictErrors: merged.strictErrors };
    const form = endpoint.decode && surrounded;
    return { object, strictErrors: [...strictErrors([], duplicateFields), ...strictErrors(unknownFields, [], form)] };
  }

  /**
   * Returns the error of a patched document that cannot be decoded, with the document. Decoding may have modified the document and
   * the patch, so both are rebuilt.
   */
  *#undecodable(current: () => Steps<KubeObject>, { message }: DecodeError): Steps<Error> {
    const again = yield* Patch.read(this.input);
    const patched = yield* again.#apply(yield* current());
    return yield* again.#invalid(
      patched,
      this.input.type === 'application/json-patch+json' ? message : yield* again.#firstProblem(patched, message),
    );
  }

  /** Returns the strict errors of the patch and its result. */
  *#errorsOf(unknown: readonly string[]): Steps<string[]> {
    // The decoder of custom resources names them in upstream's order.
    const isOrdered = this.input.type === 'application/json-patch+json' || this.input.endpoint.decode !== undefined;
    const sorted = isOrdered ? unknown : yield* sortedSteps([...unknown], compareUtf8);
    return [...this.content.strictErrors, ...sorted];
  }

  /** Throws upstream's error for a patched document with another apiVersion or kind than a text, or without one. */
  *#checkTypeMeta(patched: unknown): Steps<void> {
    if (this.#isStrategic) return;
    const wrongType = typeMetaProblem(patched);
    if (wrongType !== undefined || !isJsonObject(patched))
      throw yield* this.#invalid(patched, `couldn't get version/kind; json parse error: ${wrongType}`);
    const apiVersion = getOwn(patched, 'apiVersion') as string | null | undefined;
    const kind = getOwn(patched, 'kind') as string | null | undefined;
    if (this.input.endpoint.decode) yield* this.#checkCustomTypeMeta(patched, apiVersion, kind);
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
    const { options, context, endpoint } = this.input;
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
    const { endpoint } = this.input;
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
    return this.input.type === 'application/strategic-merge-patch+json';
  }

  *#apply(document: KubeObject): Steps<unknown> {
    try {
      switch (this.input.type) {
        case 'application/json-patch+json':
          return yield* this.#inTime(applyJsonPatchSteps(document, this.content.parsed, this.#sorted, this.content.hasRepeatedKeys));
        case 'application/merge-patch+json':
          return yield* applyMergePatch(
            document,
            this.content.parsed,
            !this.input.endpoint.decode && hasRawContent(this.input.endpoint.type),
          );
        default:
          return yield* this.#inTime(
            applyStrategicMergePatchSteps(document, this.content.parsed as Record<string, unknown>, this.input.endpoint.type),
          );
      }
    } catch (error) {
      throw interpretPatchError(error);
    }
  }

  /** Ends patches at the deadline of the request; some would take hours. */
  #inTime<T>(steps: Steps<T>): Steps<T> {
    return untilTime(steps, this.input.context.deadline, endAtDeadline);
  }

  /** Completes a missing kind like upstream; returns the error of a wrong kind, undefined for the expected one. */
  #wrongKind(object: KubeObject): string | undefined {
    const { kind } = this.input.endpoint;
    const apiVersion = groupVersionString(kind);
    // A removed kind defaults to the expected one.
    if (!object.kind && !this.input.endpoint.decode) object.kind = kind.kind;
    // A custom resource's own validation checks its kind.
    if ((object.kind === kind.kind && object.apiVersion === apiVersion) || this.input.endpoint.decode) return undefined;
    if (this.#isStrategic) {
      object.kind = kind.kind;
      object.apiVersion = apiVersion;
      return undefined;
    }
    const actual = { ...parseGroupVersion(object.apiVersion ?? ''), kind: object.kind };
    if (!isGroupVersion(object.apiVersion ?? '')) return `unexpected GroupVersion string: ${object.apiVersion}`;
    return kindProblem(this.input.endpoint.kinds, actual, kind);
  }

  *#invalid(patched: unknown, message: string): Steps<Error> {
    const shown = new JsonText(yield* quoteSteps(yield* this.#shown(patched)));
    return newInvalid({ group: '', kind: '' }, '', [invalid(fieldPath('patch'), shown, message)]);
  }

  /** Returns the document as upstream shows it in errors. */
  *#shown(patched: unknown): Steps<string> {
    if (this.#isStrategic) return yield* formatValueSteps(this.content.parsed);
    if (this.input.type !== 'application/json-patch+json') yield* noteMerged(patched, this.content.parsed, this.#sorted);
    const keys = (object: object): Steps<readonly string[]> =>
      this.#sorted.has(object) ? sortedKeysSteps(object) : oneStep(() => keysOf(object));
    const json = yield* encodePartlyRawJsonSteps(patched, keys);
    return (this.content.hasRepeatedKeys ? plainJson(json) : json).toString();
  }
}
