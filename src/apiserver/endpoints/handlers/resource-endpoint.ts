import type { ConvertElsewhere } from '#apimachinery/managedfields/awaited-conversions';
import type { FieldManager } from '#apimachinery/managedfields/field-manager';
import type { GroupVersionKind, KubeObject } from '#apimachinery/meta/types';
import { type Decoded, type DecodeOptions, decode } from '#apimachinery/runtime/decode';
import { decodeSteps } from '#apimachinery/runtime/decode-steps';
import type { Pace } from '#apimachinery/runtime/pace';
import type { Steps } from '#apimachinery/runtime/steps';
import type { StructType } from '#apimachinery/runtime/schema';
import type { AdmissionTarget } from '#apiserver/admission/request-admission';
import type { RequestContext } from '#apiserver/request/request-context';
import type { KindLookup } from '#apiserver/registry/kinds';
import type { Column, ResourceDefinition, Strategy, VersionConversion } from '#apiserver/registry/resource-definition';
import type { Store } from '#apiserver/registry/store';
import type { Series } from '#apiserver/base/metrics/series-histogram';
import { type EndpointRestrictions, plainRestrictions } from './negotiation.ts';
import type { MediaType } from '#apiserver/request/media-type';

/** One resource or subresource in one version with its store, on which verbs operate. Created at start and when kinds change. */
export interface ResourceEndpoint {
  readonly definition: ResourceDefinition;
  readonly store: Store;
  /** Subresource; empty for the resource itself. */
  readonly subresource: string;
  /** Type of this version. */
  readonly type: StructType;
  readonly kind: GroupVersionKind;
  readonly kinds: KindLookup;
  /** Conversion to the storage version; undefined if this is the storage version. */
  readonly conversion: VersionConversion | undefined;
  /** Strategy of a subresource that writes the parent's object. */
  readonly strategy: Strategy | undefined;
  /** Columns of the Table form; empty: name and creation time. */
  readonly columns: readonly Column[];
  readonly fieldManager: FieldManager;
  /** Converts objects for the field manager, if that takes time (conversion webhooks). */
  readonly converter?: ConvertElsewhere | undefined;
  readonly admission: AdmissionTarget;
  readonly restrictions: EndpointRestrictions;
  /** Decodes a parsed document; undefined: it is decoded by the type. */
  readonly decode?: ((document: Record<string, unknown>) => Steps<Decoded<KubeObject>>) | undefined;
  /**
   * Number of bytes of the prefix `{"kind":"Pod","apiVersion":"v1",`, which items of a list omit; 0 for custom resources, whose
   * items include it.
   */
  readonly itemPrefix: number;
  /** Returns true if a feature gate is enabled. */
  readonly isEnabled: (feature: string) => boolean;
  /** Capabilities that the server grants to objects. */
  readonly capabilities: ReadonlySet<string>;
  /** Sizes of sent watch events, in `watchEventBuckets`. */
  readonly watchEvents: Series;
  /** Durations until watchers received the initial events, in `watchListBuckets`, by the scope of the request. */
  readonly watchLists: Map<string, Series>;
}

/** Buckets from 1 KiB to 128 KiB. Upstream: endpoints/metrics/metrics.go. */
export const watchEventBuckets = Array.from({ length: 8 }, (_, i) => 1024 * 2 ** i);

/** Buckets in seconds. Upstream: endpoints/metrics/metrics.go. */
export const watchListBuckets = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60];

/** Serves a verb of an endpoint. */
export type EndpointHandler = (context: RequestContext, endpoint: ResourceEndpoint) => void | Promise<void>;

/**
 * Restrictions of resources. Tables are JSON or YAML only; PartialObjectMetadata supports every media type. Upstream:
 * endpoints/handlers/rest.go.
 */
export const resourceRestrictions: EndpointRestrictions = {
  ...plainRestrictions,
  isRouted: true,
  allowsConversion: (kind, mediaType: MediaType) => {
    if (kind.group !== 'meta.k8s.io' || (kind.version !== 'v1' && kind.version !== 'v1beta1')) return false;
    if (kind.kind === 'Table') return mediaType === 'application/json' || mediaType === 'application/yaml';
    return kind.kind === 'PartialObjectMetadata' || kind.kind === 'PartialObjectMetadataList';
  },
};

/** Restrictions of endpoints whose objects have no table, such as reviews. */
export const restrictionsWithoutTable: EndpointRestrictions = {
  ...resourceRestrictions,
  allowsConversion: (kind, mediaType) => kind.kind !== 'Table' && resourceRestrictions.allowsConversion(kind, mediaType),
};

/** Restrictions of custom resources, which have no protobuf form except for their metadata. */
export const customResourceRestrictions: EndpointRestrictions = { ...resourceRestrictions, isRouted: false, plainProtobuf: false };

/** Decodes a parsed document, which must not be used afterwards; a large one in chunks. Throws DecodeError. */
export function* decodeDocument(
  { type, decode: own }: Pick<ResourceEndpoint, 'type' | 'decode'>,
  document: unknown,
  pace: Pace,
  options: DecodeOptions = {},
): Steps<Decoded<KubeObject>> {
  if (own) return yield* own(document as Record<string, unknown>);
  return pace.isImmediate ? decode<KubeObject>(type, document, options) : yield* decodeSteps<KubeObject>(type, document, options);
}

/** An object of the storage version with its stored JSON. */
export interface StoredObject {
  readonly bytes: Buffer;
  readonly object: KubeObject;
}

/** Converts an object of the storage version to that of the endpoint. */
export function fromStorage(endpoint: ResourceEndpoint, object: KubeObject): KubeObject {
  return endpoint.conversion ? endpoint.conversion.fromStorage(object) : object;
}
