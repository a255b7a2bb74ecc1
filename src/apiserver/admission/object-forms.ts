import { Buffer } from 'node:buffer';
import { type Shape, shapeOf } from '#apimachinery/managedfields/shape';
import type { GroupVersion, GroupVersionKind, GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import { groupVersionString, isGroupVersion } from '#apimachinery/meta/types';
import { recognizeCopies } from '#apimachinery/runtime/class-copies';
import { decode, type Decoded } from '#apimachinery/runtime/decode';
import { decodeSteps } from '#apimachinery/runtime/decode-steps';
import { encode, encodeLineSteps } from '#apimachinery/runtime/encode';
import { DecodeError, encodeJson, encodeJsonSteps, encodeRawJson } from '#apimachinery/runtime/json/json';
import { quote } from '#apimachinery/runtime/quote';
import type { StructType, TypeSource } from '#apimachinery/runtime/schema';
import { atOnce, oneStep, type Steps } from '#apimachinery/runtime/steps';
import { completeKind, type KindLookup, kindProblem, noKindRegistered, typeMetaProblem } from '#apiserver/registry/kinds';
import type { CustomResourceTraits, ResourceDefinition } from '#apiserver/registry/resource-definition';

/** A resource that serves the same objects, with its kind. */
export interface EquivalentResource {
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
}

/**
 * Conversions of an endpoint's objects. Admission plugins see an object in the storage version; webhooks and policies see it in the
 * version of the request or of the matched rule. Upstream: admission.ObjectInterfaces.
 */
export interface ObjectForms {
  /** Other resources that serve the same objects, without that of the request. */
  readonly equivalents: readonly EquivalentResource[];
  /** Converts an object of the admission to a kind; may return the same object. Throws if the kind is not served. */
  convert(object: KubeObject, kind: GroupVersionKind): KubeObject;
  /** Returns the JSON text of the converted object. */
  encode(object: KubeObject, kind: GroupVersionKind): string;
  /**
   * Decodes a parsed document to a kind. Unknown fields are dropped; `strict` throws for them. The document's own type may be
   * missing or another version of the same objects. Throws DecodeError if the document is no object, and ConversionError if it is
   * another object.
   */
  decode(document: unknown, kind: GroupVersionKind, strict?: boolean): KubeObject;
  /** Applies defaults to a decoded object and converts it to the form of the admission. The argument must not be used afterwards. */
  complete(object: KubeObject, kind: GroupVersionKind): KubeObject;
  /**
   * Checks an object of the admission by the type of its kind after code outside of the server changed it, and applies defaults again. It
   * may reuse the argument. Throws DecodeError for wrong types and unknown fields.
   */
  revise(object: KubeObject): KubeObject;
  /** Returns the merge rules of a kind; undefined for kinds without a schema (options of connections). */
  shape(kind: GroupVersionKind): Shape | undefined;
}

/** Forms of large objects, which are decoded and encoded in chunks. */
export interface ChunkedForms extends ObjectForms {
  /** Like `decode`, but yields to the event loop. */
  decodeSteps(document: unknown, kind: GroupVersionKind): Steps<KubeObject>;
  /**
   * Like `encode`, but yields to the event loop, meanwhile the object must not change. Returns the text in UTF-8, perhaps with a newline.
   */
  encodeSteps(object: KubeObject, kind: GroupVersionKind): Steps<Buffer>;
}

/** Returns the forms of a request as those of large objects. Those of a test may have no other, and then each is one step. */
export function chunkedFormsOf(forms: ObjectForms): ChunkedForms {
  if ('encodeSteps' in forms) return forms as ChunkedForms;
  return Object.assign(Object.create(forms) as ObjectForms, {
    decodeSteps: (document: unknown, kind: GroupVersionKind) => oneStep(() => forms.decode(document, kind)),
    encodeSteps: (object: KubeObject, kind: GroupVersionKind) => oneStep(() => Buffer.from(forms.encode(object, kind))),
  });
}

/** Thrown if an object cannot be converted to the requested kind. */
export class ConversionError extends Error {
  override readonly name = 'ConversionError';

  static {
    recognizeCopies(ConversionError);
  }
}

/** Type of a document. */
interface TypeMeta {
  readonly apiVersion?: string | null;
  readonly kind?: string | null;
}

interface Form {
  readonly type: StructType | undefined;
  readonly shape: Shape | undefined;
  readonly definition: ResourceDefinition | undefined;
}

export interface ObjectFormsOptions {
  readonly source: {
    types(definition: ResourceDefinition): TypeSource;
    /** Returns the definitions that serve the same objects, with or without this one. */
    equivalents(definition: ResourceDefinition): readonly ResourceDefinition[];
  };
  readonly definition: ResourceDefinition;
  /** Kind of the endpoint; a subresource may have its own. */
  readonly kind: GroupVersionKind;
  readonly kinds: KindLookup;
  /** Type of the objects; undefined for kinds without a schema (options of connections). */
  readonly type: StructType | undefined;
}

/** Conversions of a resource whose versions are all known. */
export class VersionedForms implements ChunkedForms {
  readonly #options: ObjectFormsOptions;
  readonly #forms = new Map<string, Form>();
  #equivalents: readonly EquivalentResource[] | undefined;

  constructor(options: ObjectFormsOptions) {
    this.#options = options;
  }

  get equivalents(): readonly EquivalentResource[] {
    this.#equivalents ??= this.#others().map(({ group, version, resource, kind }) => ({
      resource: { group, version, resource },
      kind: this.#isParentKind ? { group, version, kind } : this.#options.kind,
    }));
    return this.#equivalents;
  }

  convert(object: KubeObject, kind: GroupVersionKind): KubeObject {
    return this.#form(kind).definition?.storageVersion?.conversion.fromStorage(object) ?? object;
  }

  encode(object: KubeObject, kind: GroupVersionKind): string {
    const { type } = this.#form(kind);
    const converted = this.convert(object, kind);
    return type ? encode(type, converted) : encodeJson(converted);
  }

  *encodeSteps(object: KubeObject, kind: GroupVersionKind): Steps<Buffer> {
    const { type } = this.#form(kind);
    const converted = this.convert(object, kind);
    return type ? yield* encodeLineSteps(type, converted) : Buffer.concat(yield* encodeJsonSteps(converted));
  }

  decode(document: unknown, kind: GroupVersionKind, strict = false): KubeObject {
    return atOnce(this.#decodeBy(decodeWhole, document, kind, strict));
  }

  decodeSteps(document: unknown, kind: GroupVersionKind): Steps<KubeObject> {
    return this.#decodeBy(decodeSteps, document, kind, false);
  }

  *#decodeBy(decoder: Decoder, document: unknown, kind: GroupVersionKind, strict: boolean): Steps<KubeObject> {
    const { type, definition } = this.#form(kind);
    if (!type) return yield* this.#decode(decoder, document, kind, strict);
    const problem = typeMetaProblem(document);
    if (problem) throw new DecodeError(`couldn't get version/kind; json parse error: ${problem}`);
    if (definition?.custom) {
      checkCustomKind(document as TypeMeta, kind);
      return yield* this.#decode(decoder, document, kind, strict);
    }
    const actual = this.#kindOf(document as TypeMeta | null, kind);
    const object = yield* this.#decode(decoder, document ?? {}, actual, strict);
    if (!isVersionOf(actual, kind)) return this.convert(this.complete(object, actual), kind);
    return Object.assign(object, { apiVersion: groupVersionString(kind), kind: kind.kind });
  }

  /** Returns the kind of a document, with `expected` for missing fields. Upstream: apimachinery/pkg/runtime/serializer/json. */
  #kindOf(document: TypeMeta | null, expected: GroupVersionKind): GroupVersionKind {
    const apiVersion = document?.apiVersion ?? '';
    if (!isGroupVersion(apiVersion)) throw new DecodeError(`unexpected GroupVersion string: ${apiVersion}`);
    const actual = completeKind(apiVersion, document?.kind ?? '', expected);
    if (actual.kind === expected.kind && (this.#isOwn(actual) || this.#others().some((other) => isVersionOf(other, actual)))) return actual;
    const { kinds } = this.#options;
    if (!kinds.has(actual)) throw new DecodeError(noKindRegistered(actual.kind, groupVersionString(actual)));
    throw new ConversionError(kindProblem(kinds, actual, expected));
  }

  #isOwn(kind: GroupVersionKind): boolean {
    return isVersionOf(this.#options.kind, kind);
  }

  *#decode(decoder: Decoder, document: unknown, kind: GroupVersionKind, strict: boolean): Steps<KubeObject> {
    const { type, definition } = this.#form(kind);
    const object = definition?.custom
      ? yield* decodeCustom(definition.custom, document, false)
      : type
        ? yield* decodeTyped(decoder, type, document, strict)
        : (document as KubeObject);
    object.metadata ??= {};
    return object;
  }

  complete(object: KubeObject, kind: GroupVersionKind): KubeObject {
    const { definition } = this.#form(kind);
    definition?.defaults?.(object);
    // Custom resources are admitted in the version of their endpoint, built-in ones in the storage version.
    if (definition?.custom) return { ...object, apiVersion: groupVersionString(this.#options.kind) };
    return definition?.storageVersion?.conversion.toStorage(object) ?? object;
  }

  revise(object: KubeObject): KubeObject {
    const { definition, kind, type } = this.#options;
    if (!type) return object;
    if (!this.#isParentKind) return atOnce(decodeTyped(decodeWhole, type, object, true));
    if (definition.custom) return this.complete(atOnce(decodeCustom(definition.custom, object, true)), kind);
    const { storageVersion: stored } = definition;
    const storedType = stored ? this.#options.source.types(definition).struct(stored.schema) : type;
    const decoded = atOnce(decodeTyped(decodeWhole, storedType, object, true));
    const inStorage = stored ? this.#others().find((other) => isVersionOf(other, stored.version)) : definition;
    // The storage version may be disabled; then the defaults of the request's version apply.
    if (stored && !inStorage) return this.complete(stored.conversion.fromStorage(decoded), kind);
    inStorage?.defaults?.(decoded);
    return decoded;
  }

  shape(kind: GroupVersionKind): Shape | undefined {
    return this.#form(kind).shape;
  }

  /** True if the endpoint's objects are those of the resource, not of a kind of the subresource. */
  get #isParentKind(): boolean {
    return this.#options.kind.kind === this.#options.definition.kind;
  }

  #others(): ResourceDefinition[] {
    const { source, definition } = this.#options;
    const own = groupVersionString(definition);
    return source.equivalents(definition).filter((other) => groupVersionString(other) !== own);
  }

  #form(kind: GroupVersionKind): Form {
    const key = groupVersionString(kind);
    let form = this.#forms.get(key);
    if (!form) {
      form = this.#find(kind);
      this.#forms.set(key, form);
    }
    return form;
  }

  #find(kind: GroupVersionKind): Form {
    const { definition, kind: own, type } = this.#options;
    if (!this.#isParentKind) return { type, shape: type && shapeOf(type), definition: undefined };
    if (groupVersionString(kind) === groupVersionString(own)) return this.#formOf(definition, type);
    const other = this.#others().find((definition) => isVersionOf(definition, kind));
    if (!other) throw new Error(`unable to convert to ${groupVersionString(kind)}: ${definition.resource} are not served in this version`);
    return this.#formOf(other, this.#options.source.types(other).struct(other.schema));
  }

  #formOf(definition: ResourceDefinition, type: StructType | undefined): Form {
    const { applySchema } = definition;
    const fields = applySchema === undefined ? type : this.#options.source.types(definition).struct(applySchema);
    return { type, shape: fields && shapeOf(fields), definition };
  }
}

function isVersionOf(one: GroupVersion, other: GroupVersion): boolean {
  return one.group === other.group && one.version === other.version;
}

/** Checks the kind of a custom resource. Upstream's decoder accepts any kind, but the version must be the requested one. */
function checkCustomKind(document: TypeMeta | null, expected: GroupVersionKind): void {
  const apiVersion = document?.apiVersion ?? '';
  const kind = document?.kind;
  if (!kind) throw new DecodeError(`Object 'Kind' is missing in '${encodeRawJson(document)}'`);
  if (!isGroupVersion(apiVersion)) throw new DecodeError(`unexpected GroupVersion string: ${apiVersion}`);
  const want = groupVersionString(expected);
  if (apiVersion === want) return;
  const groupVersion = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  throw new ConversionError(`${groupVersion}, Kind=${kind} is unstructured and is not suitable for converting to ${JSON.stringify(want)}`);
}

type Decoder = (type: StructType, document: unknown) => Steps<Decoded>;

const decodeWhole: Decoder = (type, document) => oneStep(() => decode(type, document));

function* decodeTyped(decoder: Decoder, type: StructType, document: unknown, strict: boolean): Steps<KubeObject> {
  const { object, unknownFields } = yield* decoder(type, document);
  if (strict) refuseUnknown(unknownFields);
  return object as unknown as KubeObject;
}

function* decodeCustom(custom: CustomResourceTraits, document: unknown, strict: boolean): Steps<KubeObject> {
  const { object, unknownFields } = yield* custom.decode(document as Record<string, unknown>);
  if (strict) refuseUnknown(unknownFields);
  return object;
}

function refuseUnknown(fields: readonly string[]): void {
  if (fields.length > 0)
    throw new DecodeError(`strict decoding error: ${fields.map((field) => `unknown field ${quote(field)}`).join(', ')}`);
}
