import { type Shape, shapeOf } from '#apimachinery/managedfields/shape';
import type { GroupVersionKind, GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import { groupVersionString } from '#apimachinery/meta/types';
import { decode } from '#apimachinery/runtime/decode';
import { encode } from '#apimachinery/runtime/encode';
import { DecodeError, encodeJson } from '#apimachinery/runtime/json';
import { quote } from '#apimachinery/runtime/quote';
import type { StructType, TypeSource } from '#apimachinery/runtime/schema';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';

/** A resource by which the same objects can be had, and their kind there. */
export interface EquivalentResource {
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
}

/**
 * The forms of an endpoint's objects. Admission sees an object in the version that is stored; webhooks and policies look at
 * it in the version of the request, or of the rule that it matched. Upstream: admission.ObjectInterfaces.
 */
export interface ObjectForms {
  /** Other versions and groups of the same objects (the request's own is not among them). */
  readonly equivalents: readonly EquivalentResource[];
  /** An object that admission was given, in the version of a kind; it may be the same object. Throws for a kind that is not served. */
  convert(object: KubeObject, kind: GroupVersionKind): KubeObject;
  /** The JSON text of what `convert` gives. */
  encode(object: KubeObject, kind: GroupVersionKind): string;
  /** An object of a parsed document in the version of a kind, without what the kind does not know: `strict` throws for that. Throws DecodeError. */
  decode(document: unknown, kind: GroupVersionKind, strict?: boolean): KubeObject;
  /** Fills in what such an object leaves out, and turns it into the form that admission sees. Uses it up. */
  complete(object: KubeObject, kind: GroupVersionKind): KubeObject;
  /** How the fields of a kind are merged; undefined where no table describes them (options of connections). */
  shape(kind: GroupVersionKind): Shape | undefined;
}

interface Form {
  readonly type: StructType | undefined;
  readonly shape: Shape | undefined;
  readonly definition: ResourceDefinition | undefined;
}

export interface ObjectFormsOptions {
  readonly source: {
    types(definition: ResourceDefinition): TypeSource;
    /** Definitions of the same objects, this one among them or not. */
    equivalents(definition: ResourceDefinition): readonly ResourceDefinition[];
  };
  readonly definition: ResourceDefinition;
  /** Of the endpoint: that of a subresource may be one of its own. */
  readonly kind: GroupVersionKind;
  /** undefined where no table describes the objects (options of connections). */
  readonly type: StructType | undefined;
}

/** The forms of a resource of which all versions are at hand. */
export class VersionedForms implements ObjectForms {
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

  decode(document: unknown, kind: GroupVersionKind, strict = false): KubeObject {
    const { type, definition } = this.#form(kind);
    const object = definition?.custom
      ? definition.custom.decode(document as Record<string, unknown>).object
      : type
        ? decodeTyped(type, document, strict)
        : (document as KubeObject);
    object.metadata ??= {};
    return object;
  }

  complete(object: KubeObject, kind: GroupVersionKind): KubeObject {
    const { definition } = this.#form(kind);
    definition?.defaults?.(object);
    // Custom resources are admitted in the version of their endpoint, built-in ones in that of the storage.
    if (definition?.custom) return { ...object, apiVersion: groupVersionString(this.#options.kind) };
    return definition?.storageVersion?.conversion.toStorage(object) ?? object;
  }

  shape(kind: GroupVersionKind): Shape | undefined {
    return this.#form(kind).shape;
  }

  /** Whether the endpoint's objects are those of the resource itself, and not of a subresource's own kind. */
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
    const other = this.#others().find(({ group, version }) => group === kind.group && version === kind.version);
    if (!other) throw new Error(`unable to convert to ${groupVersionString(kind)}: ${definition.resource} are not served in it`);
    return this.#formOf(other, this.#options.source.types(other).struct(other.schema));
  }

  #formOf(definition: ResourceDefinition, type: StructType | undefined): Form {
    const { applySchema } = definition;
    const fields = applySchema === undefined ? type : this.#options.source.types(definition).struct(applySchema);
    return { type, shape: fields && shapeOf(fields), definition };
  }
}

function decodeTyped(type: StructType, document: unknown, strict: boolean): KubeObject {
  const { object, unknownFields } = decode<KubeObject>(type, document);
  if (strict && unknownFields.length > 0)
    throw new DecodeError(`strict decoding error: ${unknownFields.map((field) => `unknown field ${quote(field)}`).join(', ')}`);
  return object;
}
