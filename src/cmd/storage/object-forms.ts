import { Buffer } from 'node:buffer';
import { definitionOfV1beta1 } from '#apiextensions-apiserver/apis/apiextensions/v1beta1/conversion';
import { type GroupKind, groupVersionString, type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import { encodeCbor, isCbor, parseCbor } from '#apimachinery/runtime/cbor/cbor';
import { decode } from '#apimachinery/runtime/decode';
import { encodeLine } from '#apimachinery/runtime/encode';
import { encodeJson, parseEncoded, parseJson } from '#apimachinery/runtime/json/json';
import { decodeProtobuf, encodeProtobuf, isProtobuf, protobufKind } from '#apimachinery/runtime/protobuf/protobuf';
import type { StructType } from '#apimachinery/runtime/schema';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import type { Scheme } from '#apiserver/registry/scheme';
import { withoutResourceVersion, withResourceVersion } from '#apiserver/storage/cacher/resource-version';
import { storedCoreSchema } from '#kubernetes/schema/unserved';
import type { CommitFeed, Storage } from '#apiserver/storage/storage';
import { type ObjectForm, ObjectStorage } from '#apiserver/storage/value/object-storage';
import { placeOf, resourcesByPlace } from './stored-resources.ts';

export type StorageMediaType = 'application/json' | 'application/vnd.kubernetes.protobuf';

/** Resources that kube-apiserver stores although no API serves them. */
const unserved: Readonly<Record<string, string>> = {
  ranges: 'core_v1.RangeAllocation',
  masterleases: 'core_v1.Endpoints',
  peerserverleases: 'core_v1.Endpoints',
};

/** Versions that are stored as JSON and no longer served, with their conversions to served versions. */
const unservedVersions: ReadonlyMap<string, (object: KubeObject) => KubeObject> = new Map([
  ['apiextensions.k8s.io/v1beta1 CustomResourceDefinition', definitionOfV1beta1],
]);

/** Returns the versions of a kind that can be read from the store although no server serves them. */
export function unservedVersionsOf({ group, kind }: GroupKind): string[] {
  return [...unservedVersions.keys()].flatMap((stored) => {
    const [apiVersion = '', storedKind] = stored.split(' ');
    const { group: storedGroup, version } = parseGroupVersion(apiVersion);
    return storedGroup === group && storedKind === kind ? version : [];
  });
}

/**
 * Returns the forms in which kube-apiserver stores objects, by key: built-in resources in the media type, resources of the apiextensions
 * and aggregator servers (whose paths begin with the group) in JSON, custom resources in JSON or, with the CBOR gate enabled, in CBOR. All
 * of these forms are readable.
 */
export function objectFormsFor(scheme: Scheme, mediaType: StorageMediaType, hasCbor = false): (key: string) => ObjectForm | undefined {
  const resourceOf = resourcesByPlace(scheme);
  const known = new Map<string, ObjectForm | undefined>();
  const make = (place: string): ObjectForm | undefined => {
    const first = place.split('/', 1)[0] as string;
    const schema = unserved[first];
    if (schema !== undefined) return new TypedForm({ type: storedCoreSchema.struct(schema), apiVersion: 'v1', mediaType });
    const resource = resourceOf(place);
    if (resource === undefined) return undefined;
    if (!('schema' in resource)) return hasCbor ? customFormInCbor : customForm;
    const isJson = first.includes('.');
    return new TypedForm({ ...storedType(scheme, resource), mediaType: isJson ? 'application/json' : mediaType, scheme, resource });
  };
  return (key) => {
    const place = placeOf(key);
    if (!known.has(place)) known.set(place, make(place));
    return known.get(place);
  };
}

/**
 * Wraps a store so that its values are JSON with their resourceVersion, whatever form is stored. `mediaType` is undefined if the store
 * already holds that form. `hasCbor`: custom resources are stored as CBOR.
 */
export function objectsIn(
  storage: Storage & Partial<CommitFeed>,
  scheme: Scheme,
  mediaType: StorageMediaType | undefined,
  hasCbor = false,
): Storage & Partial<CommitFeed> {
  return mediaType ? new ObjectStorage(storage, objectFormsFor(scheme, mediaType, hasCbor)) : storage;
}

function storedType(
  scheme: Scheme,
  { group, version, schema, storageVersion }: ResourceDefinition,
): { type: StructType; apiVersion: string } {
  return {
    type: scheme.schemasOf(group).struct(storageVersion?.schema ?? schema),
    apiVersion: groupVersionString(storageVersion?.version ?? { group, version }),
  };
}

/** Custom resources are JSON in both forms; their numbers are preserved unchanged. */
const customForm: ObjectForm = {
  toStorage: withoutResourceVersion,
  fromStorage: (stored, revision) => withResourceVersion(isCbor(stored) ? jsonOfCbor(stored) : stored, revision),
};

/** Upstream: apiextensions-apiserver/pkg/cmd/server/options/options.go (NewCRDRESTOptionsGetter). */
const customFormInCbor: ObjectForm = {
  ...customForm,
  toStorage: (json) => encodeCbor(undefined, parseEncoded(withoutResourceVersion(json))),
};

function jsonOfCbor(stored: Buffer): Buffer {
  return Buffer.from(`${encodeJson(parseCbor(stored))}\n`);
}

interface TypedFormOptions {
  readonly type: StructType;
  readonly apiVersion: string;
  readonly mediaType: StorageMediaType;
  /** Scheme in which other stored versions are looked up. */
  readonly scheme?: Scheme | undefined;
  readonly resource?: ResourceDefinition | undefined;
}

class TypedForm implements ObjectForm {
  constructor(private readonly options: TypedFormOptions) {}

  toStorage(json: Buffer): Buffer {
    const { type, mediaType } = this.options;
    const object = parseJson(json).value as KubeObject;
    delete object.metadata.resourceVersion;
    delete object.metadata.selfLink;
    return mediaType === 'application/json' ? encodeLine(type, object) : encodeProtobuf(type, object);
  }

  fromStorage(stored: Buffer, revision: number): Buffer {
    const object = this.#read(stored);
    object.metadata.resourceVersion = String(revision);
    return encodeLine(this.options.type, object);
  }

  #read(stored: Buffer): KubeObject {
    const { type, apiVersion } = this.options;
    if (isProtobuf(stored)) {
      const kind = protobufKind(stored);
      this.#checkKind(kind);
      if (kind.apiVersion === apiVersion) return decodeProtobuf(type, stored) as KubeObject;
      const other = this.#otherVersion(kind.apiVersion);
      return other.toStorage(decodeProtobuf(other.type, stored) as KubeObject);
    }
    const object = parseJson(stored).value as KubeObject;
    this.#checkKind(object);
    if (object.apiVersion === apiVersion) return decode<KubeObject>(type, object).object;
    const convert = unservedVersions.get(`${object.apiVersion} ${object.kind}`);
    if (convert) return decode<KubeObject>(type, convert(object)).object;
    const other = this.#otherVersion(object.apiVersion);
    return other.toStorage(decode<KubeObject>(other.type, object).object);
  }

  #checkKind({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): void {
    const { resource } = this.options;
    if (resource && kind !== resource.kind)
      throw new Error(`it is a ${apiVersion} ${kind}, not a ${this.options.apiVersion} ${resource.kind}`);
  }

  /** Returns the type and conversion of another version. Throws for an unknown version. */
  #otherVersion(apiVersion: string): { type: StructType; toStorage: (object: KubeObject) => KubeObject } {
    const { scheme, resource } = this.options;
    const found = resource && scheme?.definition({ ...parseGroupVersion(apiVersion), resource: resource.resource });
    if (!scheme || !found) throw new Error(`unknown stored version ${JSON.stringify(apiVersion)}`);
    return {
      type: scheme.schemasOf(found.group).struct(found.schema),
      toStorage: (object) => found.storageVersion?.conversion.toStorage(object) ?? object,
    };
  }
}
