import { type GroupVersionKind, groupVersionString, type KubeObject, type ObjectMeta } from '#apimachinery/meta/types';
import { isJsonObject } from '#apimachinery/patch/own-property';
import { encodeLine } from '#apimachinery/runtime/encode';
import { DecodeError, parseEncoded } from '#apimachinery/runtime/json/json';
import type { StructType } from '#apimachinery/runtime/schema';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { applyDefaults, pruneNonNullableNullsWithoutDefaults } from '#apimachinery/structural/default';
import type { JsonSchemaProps } from '#apimachinery/structural/json-schema-props';
import { coerceEmbeddedResources, coerceObjectMeta, type Coercion, EmbeddedResourceError } from '#apimachinery/structural/object-meta';
import { prune } from '#apimachinery/structural/prune';
import { pruneDefaults } from '#apimachinery/structural/schema-defaults';
import { SchemaValidator } from '#apimachinery/structural/schema-validator';
import { emptyStructural, newStructural, type Structural } from '#apimachinery/structural/structural';
import { customApplyType, customObjectType } from './custom-types.ts';

/** One version of a custom resource: its schema, compiled when it is first needed, and what follows from it. */
export class CustomVersion {
  readonly groupVersion: string;
  #structural: Structural | undefined;
  #validator: SchemaValidator | undefined;
  #type: StructType | undefined;
  #applyType: StructType | undefined;

  /**
   * `preserveUnknownFields`: of definitions that are older than structural schemas. `isConverted`: a webhook converts between
   * the versions, so that an object that is only renamed has not the form of the other version.
   */
  constructor(
    readonly kind: GroupVersionKind,
    readonly props: JsonSchemaProps | undefined,
    readonly preserveUnknownFields: boolean,
    readonly isConverted = false,
  ) {
    this.groupVersion = groupVersionString(kind);
  }

  get structural(): Structural {
    if (!this.#structural) {
      const structural = this.props ? newStructural(this.props) : emptyStructural;
      pruneDefaults(structural);
      this.#structural = structural;
    }
    return this.#structural;
  }

  get validator(): SchemaValidator {
    return (this.#validator ??= new SchemaValidator(this.props ?? {}));
  }

  get type(): StructType {
    return (this.#type ??= customObjectType(this.kind));
  }

  get applyType(): StructType {
    return (this.#applyType ??= customApplyType(this.kind, this.structural));
  }

  /**
   * What a client sent, in form: metadata decoded, unknown fields gone, the input used up. Not defaulted. Throws DecodeError.
   * Upstream: apiserver/customresource_handler.go (schemaCoercingDecoder).
   */
  *decode(document: Record<string, unknown>): Steps<{ object: KubeObject; unknownFields: readonly string[] }> {
    if (!isJsonObject(document)) throw new DecodeError('json: cannot unmarshal this value into Go value of type map[string]interface {}');
    const unknownFields: string[] = [];
    try {
      yield* this.#coerce(document, { dropInvalid: false, unknownFields });
    } catch (error) {
      if (error instanceof EmbeddedResourceError) throw new DecodeError(error.message, { cause: error });
      throw error;
    }
    return { object: document as KubeObject, unknownFields };
  }

  /** True if an object without a status has one by default. */
  get defaultsStatus(): boolean {
    return this.structural.properties.get('status')?.default !== undefined;
  }

  applyDefaults(object: KubeObject): void {
    applyDefaults(object, this.structural);
  }

  /** Brings what was stored, or was converted to this version, into the form that this version has today; in place. */
  repair(object: KubeObject): void {
    atOnce(this.#coerce(object, { dropInvalid: true }));
    object.metadata.generation ||= 1;
    this.applyDefaults(object);
  }

  /** Drops what this version does not declare of an object that was converted to it or merged by an apply; in place. Throws EmbeddedResourceError. */
  prune(object: KubeObject): void {
    atOnce(this.#coerce(object, { dropInvalid: false }));
  }

  parse(bytes: Buffer): KubeObject {
    return parseEncoded(bytes) as KubeObject;
  }

  encode(object: KubeObject): Buffer {
    return encodeLine(this.type, object);
  }

  *#coerce(document: Record<string, unknown>, coercion: Coercion): Steps<void> {
    const metadata: ObjectMeta | undefined =
      document['metadata'] === undefined ? undefined : coerceObjectMeta(document['metadata'], 'metadata', coercion);
    const unknown = coercion.unknownFields;
    if (!this.preserveUnknownFields) {
      const pruned = yield* prune(document, this.structural, true);
      yield;
      for (const path of unknown ? pruned : []) unknown?.push(path);
      yield* pruneNonNullableNullsWithoutDefaults(document, this.structural);
      yield;
    }
    const embedded: string[] = [];
    coerceEmbeddedResources(document, this.structural, { ...coercion, unknownFields: unknown && embedded });
    for (const path of embedded.sort()) unknown?.push(path);
    if (metadata) document['metadata'] = metadata;
  }
}
