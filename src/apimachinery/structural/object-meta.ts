import { addErrors } from '#apimachinery/validation/field';
import { metaSchema } from '../meta/schema/schema.ts';
import type { ObjectMeta } from '../meta/types.ts';
import { getOwn, isJsonObject, type JsonObject, setOwn } from '../patch/own-property.ts';
import { type Decoded, decode } from '../runtime/decode.ts';
import { decodeSteps } from '../runtime/decode-steps.ts';
import { DecodeError, remarshaled } from '../runtime/json/json.ts';
import { deepCopy, deepCopySteps } from '../runtime/copy.ts';
import { Float64, rereadFloat } from '../runtime/numbers.ts';
import { type FieldError, invalid, Path, required } from '../validation/field.ts';
import { isDNS1035Label, validatePathSegmentName } from '../validation/names.ts';
import { validateObjectMeta } from '../validation/object-meta.ts';
import { atOnce, oneStep, type Steps } from '../runtime/steps.ts';
import { keysOf, notedKeys, presentKeys } from '../runtime/wide-objects.ts';
import type { Structural } from './structural.ts';

/** Error for an embedded resource with malformed metadata or a kind that is not a string. */
export class EmbeddedResourceError extends Error {
  override readonly name = 'EmbeddedResourceError';

  constructor(readonly fieldError: FieldError) {
    super(String(fieldError));
  }
}

export interface Coercion {
  /** Drops malformed values (of stored objects) instead of rejecting them. */
  readonly dropInvalid: boolean;
  /** Receives the paths of unknown fields; undefined if they are not needed. */
  readonly unknownFields?: string[] | undefined;
}

const objectMetaType = metaSchema.struct('meta_v1.ObjectMeta');

/**
 * Returns metadata in the form of ObjectMeta: without unknown fields, with canonical times. The input is not changed. Throws DecodeError
 * for malformed metadata. Upstream: apiextensions-apiserver/pkg/apiserver/schema/objectmeta/coerce.go.
 */
export function coerceObjectMeta(metadata: unknown, at: string, coercion: Coercion): ObjectMeta {
  return atOnce(coerceBy(decodeWhole, metadata, at, coercion));
}

/** Like `coerceObjectMeta`, but yields to the event loop if the metadata has long lists or wide maps. */
export function coerceObjectMetaSteps(metadata: unknown, at: string, coercion: Coercion): Steps<ObjectMeta> {
  return coerceBy(isLong(metadata) ? decodeInSteps : decodeWhole, metadata, at, coercion);
}

const longLength = 1_000;

function isLong(metadata: unknown): boolean {
  if (!isJsonObject(metadata)) return false;
  return keysOf(metadata).some((name) => {
    const value = getOwn(metadata, name);
    return (Array.isArray(value) && value.length > longLength) || (isJsonObject(value) && notedKeys(value) !== undefined);
  });
}

type MetaDecoder = (metadata: unknown) => Steps<Decoded<ObjectMeta>>;

const decodeWhole: MetaDecoder = (metadata) => oneStep(() => decode<ObjectMeta>(objectMetaType, rereadFloats(deepCopy(metadata))));

function* decodeInSteps(metadata: unknown): Steps<Decoded<ObjectMeta>> {
  return yield* decodeSteps<ObjectMeta>(objectMetaType, rereadFloats(yield* deepCopySteps(metadata)));
}

function* coerceBy(decodeMeta: MetaDecoder, metadata: unknown, at: string, { dropInvalid, unknownFields }: Coercion): Steps<ObjectMeta> {
  const note = (fields: readonly string[]): void => {
    for (const field of fields) unknownFields?.push(`${at}.${field}`);
  };
  try {
    const decoded = yield* decodeMeta(metadata);
    note(decoded.unknownFields);
    return decoded.object;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    if (!dropInvalid || !isJsonObject(metadata)) {
      // Upstream reports the first problem in sorted JSON.
      decode(objectMetaType, remarshaled(metadata));
      throw error;
    }
  }
  const valid: JsonObject = {};
  for (const [name, value] of Object.entries(metadata as JsonObject)) {
    try {
      const { object, unknownFields: fields } = yield* decodeMeta({ [name]: value });
      note(fields);
      Object.assign(valid, object);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
    }
  }
  return valid as ObjectMeta;
}

/** Changes a copy as upstream's JSON round trip does, by which `generation: 1.0` is an integer. Metadata has no deeper numbers. */
function rereadFloats(copy: unknown): unknown {
  if (!isJsonObject(copy)) return copy;
  for (const [name, value] of Object.entries(copy)) if (value instanceof Float64) setOwn(copy, name, rereadFloat(value.value));
  return copy;
}

/**
 * Coerces the metadata of embedded resources in place; the caller handles that of the resource itself. Throws EmbeddedResourceError.
 * Upstream: objectmeta/algorithm.go.
 */
export function coerceEmbeddedResources(value: unknown, schema: Structural | undefined, coercion: Coercion, at?: Path): void {
  if (!schema?.hasEmbeddedResources) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      coerceEmbeddedResources(item, schema.items, coercion, at ? at.index(index) : new Path(String(index), undefined, true));
    return;
  }
  if (!isJsonObject(value)) return;
  for (const name of presentKeys(value)) {
    if (schema.embeddedResource) coerceTypeAndMeta(value, name, coercion, at);
    const property = schema.properties.get(name);
    const present = getOwn(value, name);
    if (property) coerceEmbeddedResources(present, property, coercion, child(at, name));
    else coerceEmbeddedResources(present, schema.additionalProperties, coercion, at ? at.key(name) : new Path(name, undefined, true));
  }
}

const child = (at: Path | undefined, name: string): Path => (at ? at.child(name) : new Path(name));

function coerceTypeAndMeta(object: JsonObject, name: string, coercion: Coercion, at: Path | undefined): void {
  const value = getOwn(object, name);
  if (name === 'apiVersion' || name === 'kind') {
    if (typeof value === 'string') return;
    if (!coercion.dropInvalid) throw new EmbeddedResourceError(invalid(child(at, name), value, 'must be a string'));
    delete object[name];
  } else if (name === 'metadata') {
    try {
      setOwn(object, name, coerceObjectMeta(value, child(at, name).toString(), coercion));
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      if (!coercion.dropInvalid) throw new EmbeddedResourceError(invalid(child(at, name), value, error.message));
    }
  }
}

/** Validates kind, apiVersion and metadata of embedded resources. Upstream: objectmeta/validation.go. */
export function validateEmbeddedResources(value: unknown, schema: Structural | undefined, at?: Path): FieldError[] {
  if (!schema?.hasEmbeddedResources) return [];
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) =>
      validateEmbeddedResources(item, schema.items, at ? at.index(index) : new Path(String(index), undefined, true)),
    );
  if (!isJsonObject(value)) return [];
  const errors = schema.embeddedResource ? validateTypeAndMeta(value, at) : [];
  for (const name of presentKeys(value)) {
    const property = schema.properties.get(name);
    const present = getOwn(value, name);
    if (property) addErrors(errors, validateEmbeddedResources(present, property, child(at, name)));
    else
      addErrors(
        errors,
        validateEmbeddedResources(present, schema.additionalProperties, at ? at.key(name) : new Path(name, undefined, true)),
      );
  }
  return errors;
}

function validateTypeAndMeta(object: JsonObject, at: Path | undefined): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['apiVersion', 'kind']) if (!Object.hasOwn(object, name)) errors.push(required(child(at, name)));
  for (const name of ['apiVersion', 'kind']) {
    if (!Object.hasOwn(object, name)) continue;
    const value = getOwn(object, name);
    if (typeof value !== 'string') errors.push(invalid(child(at, name), value, 'must be a string'));
    else if (value === '') errors.push(invalid(child(at, name), value, 'must not be empty'));
    else addErrors(errors, name === 'kind' ? validateKind(child(at, name), value) : validateApiVersion(child(at, name), value));
  }
  if (Object.hasOwn(object, 'metadata')) addErrors(errors, validateMetadata(child(at, 'metadata'), getOwn(object, 'metadata')));
  return errors;
}

function validateApiVersion(at: Path, apiVersion: string): FieldError[] {
  if (apiVersion.split('/').length <= 2) return [];
  return [invalid(at, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
}

function validateKind(at: Path, kind: string): FieldError[] {
  const errors = isDNS1035Label(kind.toLowerCase());
  return errors.length > 0 ? [invalid(at, kind, `may have mixed case, but should otherwise match: ${errors.join(',')}`)] : [];
}

function validateMetadata(at: Path, value: unknown): FieldError[] {
  let metadata: ObjectMeta;
  try {
    metadata = coerceObjectMeta(value, at.toString(), { dropInvalid: false });
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return [invalid(at, value, error.message)];
  }
  // The name is optional, but the validation of metadata requires one.
  metadata.name ||= 'fakename';
  return validateObjectMeta(metadata, { namespaced: (metadata.namespace ?? '') !== '', nameFn: validatePathSegmentName }, at);
}
