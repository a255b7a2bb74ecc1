import { type GroupVersionKind, groupVersionString, type KubeObject, parseGroupVersion, type ObjectMeta } from '#apimachinery/meta/types';
import { isJsonObject } from '#apimachinery/patch/own-property';
import { encodeLine } from '#apimachinery/runtime/encode';
import { DecodeError, parseEncoded } from '#apimachinery/runtime/json/json';
import type { StructType } from '#apimachinery/runtime/schema';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { applyDefaults, pruneNonNullableNullsWithoutDefaults } from '#apimachinery/structural/default';
import type { JsonSchemaProps } from '#apimachinery/structural/json-schema-props';
import { coerceEmbeddedResources, coerceObjectMetaSteps, type Coercion, EmbeddedResourceError } from '#apimachinery/structural/object-meta';
import { prune } from '#apimachinery/structural/prune';
import { pruneDefaults } from '#apimachinery/structural/schema-defaults';
import { SchemaValidator } from '#apimachinery/structural/schema-validator';
import { emptyStructural, newStructural, type Structural } from '#apimachinery/structural/structural';
import { customApplyType, customObjectType } from './custom-types.ts';

/** One version of a custom resource, with its schema, which is compiled on first use. */
export class CustomVersion {
  readonly groupVersion: string;
  #structural: Structural | undefined;
  #validator: SchemaValidator | undefined;
  #type: StructType | undefined;
  #applyType: StructType | undefined;

  /**
   * `preserveUnknownFields` is true for definitions that predate structural schemas. `isConverted` is true if a webhook converts between
   * the versions, so that changing apiVersion alone is not a conversion. `versions` are all of the definition, by name.
   */
  constructor(
    readonly kind: GroupVersionKind,
    readonly props: JsonSchemaProps | undefined,
    readonly preserveUnknownFields: boolean,
    readonly isConverted = false,
    private readonly versions: ReadonlyMap<string, CustomVersion> = new Map(),
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
   * Decodes a client's document: metadata is typed, and unknown fields are dropped. It reuses the input and does not default. A document
   * of another version of the kind is pruned by the schema of that version, one of another kind or group by none. Throws DecodeError.
   * Upstream: apiserver/customresource_handler.go (schemaCoercingDecoder).
   */
  *decode(document: Record<string, unknown>): Steps<{ object: KubeObject; unknownFields: readonly string[] }> {
    if (!isJsonObject(document)) throw new DecodeError('json: cannot unmarshal this value into Go value of type map[string]interface {}');
    const unknownFields: string[] = [];
    try {
      yield* this.#coerce(document, { dropInvalid: false, unknownFields }, this.#structuralOf(document));
    } catch (error) {
      if (error instanceof EmbeddedResourceError) throw new DecodeError(error.message, { cause: error });
      throw error;
    }
    return { object: document as KubeObject, unknownFields };
  }

  /** True if the schema has a default for an absent status. */
  get defaultsStatus(): boolean {
    return this.structural.properties.get('status')?.default !== undefined;
  }

  applyDefaults(object: KubeObject): void {
    applyDefaults(object, this.structural);
  }

  /** Repairs an object that was stored, or converted to this version, by the current schema; in place. */
  repair(object: KubeObject): void {
    atOnce(this.#coerce(object, { dropInvalid: true }));
    object.metadata.generation ||= 1;
    this.applyDefaults(object);
  }

  /**
   * Prunes the undeclared fields of an object that was converted to this version or merged by an apply; in place. Throws
   * EmbeddedResourceError.
   */
  prune(object: KubeObject): void {
    atOnce(this.#coerce(object, { dropInvalid: false }));
  }

  parse(bytes: Buffer): KubeObject {
    return parseEncoded(bytes) as KubeObject;
  }

  encode(object: KubeObject): Buffer {
    return encodeLine(this.type, object);
  }

  /** Returns the schema for a document by its type; null if its kind is another. */
  #structuralOf({ apiVersion, kind }: Record<string, unknown>): Structural | null {
    if (apiVersion === this.groupVersion && kind === this.kind.kind) return this.structural;
    if (apiVersion === null) throw new DecodeError('.apiVersion accessor error: <nil> is of the type <nil>, expected string');
    const { group, version } = parseGroupVersion(typeof apiVersion === 'string' ? apiVersion : '');
    if (group !== this.kind.group || kind !== this.kind.kind) return null;
    return this.versions.get(version)?.structural ?? emptyStructural;
  }

  *#coerce(document: Record<string, unknown>, coercion: Coercion, structural: Structural | null = this.structural): Steps<void> {
    const metadata: ObjectMeta | undefined =
      document['metadata'] === undefined ? undefined : yield* coerceObjectMetaSteps(document['metadata'], 'metadata', coercion);
    const unknown = coercion.unknownFields;
    if (structural && !this.preserveUnknownFields) {
      const pruned = yield* prune(document, structural, true);
      yield;
      for (const path of unknown ? pruned : []) unknown?.push(path);
      yield* pruneNonNullableNullsWithoutDefaults(document, structural);
      yield;
    }
    const embedded: string[] = [];
    if (structural) coerceEmbeddedResources(document, structural, { ...coercion, unknownFields: unknown && embedded });
    for (const path of embedded.sort()) unknown?.push(path);
    // An empty list requests a reset only in typed metadata. Upstream's unstructured metadata omits it.
    if (metadata?.managedFields?.length === 0) delete metadata.managedFields;
    if (metadata) document['metadata'] = metadata;
  }
}
