import type { FieldManager } from '#apimachinery/managedfields/field-manager';
import type { GroupVersionKind, KubeObject } from '#apimachinery/meta/types';
import { type Decoded, type DecodeOptions, decode, decodeSteps } from '#apimachinery/runtime/decode';
import type { Steps } from '#apimachinery/runtime/steps';
import type { StructType } from '#apimachinery/runtime/schema';
import { hasWideObjects } from '#apimachinery/runtime/wide-objects';
import type { AdmissionTarget } from '#apiserver/admission/request-admission';
import type { RequestContext } from '#apiserver/request/request-context';
import type { KindLookup } from '#apiserver/registry/kinds';
import type { Column, ResourceDefinition, Strategy, VersionConversion } from '#apiserver/registry/resource-definition';
import type { Store } from '#apiserver/registry/store';
import type { Series } from '#apiserver/base/metrics/series-histogram';
import { type EndpointRestrictions, plainRestrictions } from './negotiation.ts';
import type { MediaType } from '#apiserver/request/media-type';

/** One resource or subresource in one version, bound to its store: what the verbs work on. Made at start and when kinds change. */
export interface ResourceEndpoint {
  readonly definition: ResourceDefinition;
  readonly store: Store;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** The type of this version. */
  readonly type: StructType;
  readonly kind: GroupVersionKind;
  readonly kinds: KindLookup;
  /** undefined where this version is the stored one. */
  readonly conversion: VersionConversion | undefined;
  /** Of a subresource of the parent's object. */
  readonly strategy: Strategy | undefined;
  /** Of the Table form; empty: name and age of creation. */
  readonly columns: readonly Column[];
  readonly fieldManager: FieldManager;
  readonly admission: AdmissionTarget;
  readonly restrictions: EndpointRestrictions;
  /** Makes an object of a parsed document; without it, the type does. */
  readonly decode?: ((document: Record<string, unknown>) => Steps<Decoded<KubeObject>>) | undefined;
  /** Bytes of `{"kind":"Pod","apiVersion":"v1",` that items of a list do not repeat; 0 for custom resources, which do. */
  readonly itemPrefix: number;
  /** Whether a feature gate is on. */
  readonly isEnabled: (feature: string) => boolean;
  /** Sizes of the events that its watchers were sent, in `watchEventBuckets`. */
  readonly watchEvents: Series;
  /** How long it took until its watchers had what there was, in `watchListBuckets`, by the scope of the request. */
  readonly watchLists: Map<string, Series>;
}

/** From one KiB to 128. Upstream: endpoints/metrics/metrics.go. */
export const watchEventBuckets = Array.from({ length: 8 }, (_, i) => 1024 * 2 ** i);

/** Upstream: endpoints/metrics/metrics.go. */
export const watchListBuckets = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60];

/** A verb of an endpoint. */
export type EndpointHandler = (context: RequestContext, endpoint: ResourceEndpoint) => void | Promise<void>;

/** Tables are JSON or YAML only; PartialObjectMetadata comes in every media type. Upstream: endpoints/handlers/rest.go. */
export const resourceRestrictions: EndpointRestrictions = {
  ...plainRestrictions,
  isRouted: true,
  allowsConversion: (kind, mediaType: MediaType) => {
    if (kind.group !== 'meta.k8s.io' || (kind.version !== 'v1' && kind.version !== 'v1beta1')) return false;
    if (kind.kind === 'Table') return mediaType === 'application/json' || mediaType === 'application/yaml';
    return kind.kind === 'PartialObjectMetadata' || kind.kind === 'PartialObjectMetadataList';
  },
};

/** Those of endpoints whose objects have no table, such as reviews. */
export const restrictionsWithoutTable: EndpointRestrictions = {
  ...resourceRestrictions,
  allowsConversion: (kind, mediaType) => kind.kind !== 'Table' && resourceRestrictions.allowsConversion(kind, mediaType),
};

/** Custom resources have no protobuf form; their metadata alone has. */
export const customResourceRestrictions: EndpointRestrictions = { ...resourceRestrictions, isRouted: false, plainProtobuf: false };

/** Makes an object of a parsed document, which it uses up. Throws DecodeError. */
export function* decodeDocument(
  { type, decode: own }: Pick<ResourceEndpoint, 'type' | 'decode'>,
  document: unknown,
  options: DecodeOptions = {},
): Steps<Decoded<KubeObject>> {
  if (own) return yield* own(document as Record<string, unknown>);
  return hasWideObjects() ? yield* decodeSteps<KubeObject>(type, document, options) : decode<KubeObject>(type, document, options);
}

/** An object of the storage version, and its JSON as it is stored. */
export interface StoredObject {
  readonly bytes: Buffer;
  readonly object: KubeObject;
}

/** An object of the storage version as this endpoint shows it. */
export function fromStorage(endpoint: ResourceEndpoint, object: KubeObject): KubeObject {
  return endpoint.conversion ? endpoint.conversion.fromStorage(object) : object;
}
