import type { GroupVersionKind, GroupVersionResource } from '#apimachinery/meta/types';
import type { StructType } from '#apimachinery/runtime/schema';
import { type ChunkedForms, VersionedForms } from '#apiserver/admission/object-forms';
import type { AdmissionTarget } from '#apiserver/admission/request-admission';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import type { Scheme } from '#apiserver/registry/scheme';
import { UntypedForms } from './untyped-forms.ts';

/** Number of kept targets. The limit keeps invented resources from filling the memory. */
const maxTargets = 2_000;

/** The resource and the kind of the request that a review is about. */
export interface ReviewedRequest {
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
}

/** The admission parameters of a reviewed request. */
interface ReviewTarget extends AdmissionTarget {
  readonly forms: ChunkedForms;
}

/** The admission parameters of reviewed requests, as those of the server's own endpoints. */
export class ReviewTargets {
  readonly #targets = new Map<string, ReviewTarget>();

  /** `onFull` is called when the targets are forgotten, because there are too many. */
  constructor(
    private readonly scheme: Scheme,
    private readonly onFull: () => void,
  ) {}

  of({ kind, resource, subresource }: ReviewedRequest): ReviewTarget {
    const key = [kind.group, kind.version, kind.kind, resource.group, resource.version, resource.resource, subresource].join('/');
    let target = this.#targets.get(key);
    if (!target) {
      target = { kind, resource, subresource, forms: this.#forms({ kind, resource, subresource }) };
      if (this.#targets.size === maxTargets) this.#forget();
      this.#targets.set(key, target);
    }
    return target;
  }

  #forget(): void {
    this.#targets.clear();
    this.onFull();
  }

  #forms({ kind, resource, subresource }: ReviewedRequest): ChunkedForms {
    const definition = this.scheme.definition(resource);
    const described = definition && schemaOf(definition, subresource, kind);
    if (!described) return new UntypedForms();
    const types = (one: ResourceDefinition): ReturnType<Scheme['schemasOf']> => this.scheme.schemasOf(one.group);
    let type: StructType | undefined;
    if (described.schema !== undefined) type = types(definition).struct(described.schema);
    const source = { types, equivalents: (one: ResourceDefinition) => this.scheme.equivalents(one) };
    return new VersionedForms({ source, definition, kind, kinds: this.scheme, type });
  }
}

/**
 * Returns the name of the type of a request's objects: none for connections, whose objects are options without a type. Undefined if the
 * subresource does not exist or has another kind.
 */
function schemaOf(
  { kind, schema, subresources }: ResourceDefinition,
  subresource: string,
  requested: GroupVersionKind,
): { readonly schema: string | undefined } | undefined {
  if (subresource === '') return requested.kind === kind ? { schema } : undefined;
  const described = subresources[subresource];
  if (!described) return undefined;
  if (described.kind === undefined) return requested.kind === kind ? { schema } : undefined;
  if (described.kind !== requested.kind) return undefined;
  return { schema: described.connect ? undefined : (described.schema ?? schema) };
}
