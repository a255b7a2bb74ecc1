import type { MediaType } from '#apiserver/request/media-type';
import { newGenericServerResponse, newNotAcceptable, StatusError } from '#apimachinery/api/errors';
import type { GroupVersionKind } from '#apimachinery/meta/types';

/** How the client wants its answer. */
export interface Negotiated {
  readonly mediaType: MediaType;
  /** Asked for by `;pretty=1`, `?pretty=` or by being a browser, curl or wget. JSON only. */
  readonly pretty: boolean;
  /** `;as=Table;v=v1;g=meta.k8s.io` and the like. */
  readonly convert: GroupVersionKind | undefined;
  readonly stream: string | undefined;
}

/** What every endpoint answers, the preferred one first. */
export const standardMediaTypes: readonly MediaType[] = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

export interface EndpointRestrictions {
  /** Of bodies and answers, the preferred one first. */
  readonly mediaTypes: readonly MediaType[];
  /** Whether upstream's router looks at the Accept header before the endpoint does. */
  readonly isRouted: boolean;
  /** Whether the object itself, not converted to Table and the like, comes as protobuf. */
  readonly plainProtobuf: boolean;
  allowsConversion(kind: GroupVersionKind, mediaType: MediaType): boolean;
}

/** Endpoints that answer a Status or a plain object only. */
export const plainRestrictions: EndpointRestrictions = {
  mediaTypes: standardMediaTypes,
  isRouted: false,
  plainProtobuf: true,
  allowsConversion: () => false,
};

/** The feature gate of CBOR. Upstream: apiserver/pkg/features. */
export const cborGate = 'CBORServingAndStorage';

/** The same endpoint where CBOR is served. */
export function withCbor(restrictions: EndpointRestrictions): EndpointRestrictions {
  return { ...restrictions, mediaTypes: [...restrictions.mediaTypes, 'application/cbor'] };
}

export function servesCbor({ mediaTypes }: EndpointRestrictions): boolean {
  return mediaTypes.includes('application/cbor');
}

export interface Clause {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

const plainJson: Negotiated = { mediaType: 'application/json', pretty: false, convert: undefined, stream: undefined };

/**
 * Chooses the media type of the answer; `streams` tells whether it may be one of a stream. Throws NotAcceptable (406) if there is none.
 * Upstream: apiserver/pkg/endpoints/handlers/negotiation/negotiate.go.
 */
export function negotiate(accept: string | undefined, restrictions: EndpointRestrictions, streams = false): Negotiated {
  if (!accept || accept === 'application/json' || accept === '*/*') return plainJson;
  const { mediaTypes } = restrictions;
  for (const clause of parseAccept(accept)) {
    for (const mediaType of mediaTypes) {
      const slash = mediaType.indexOf('/');
      if (clause.type !== '*' && clause.type !== mediaType.slice(0, slash)) continue;
      if (clause.subtype !== '*' && clause.subtype !== mediaType.slice(slash + 1)) continue;
      const negotiated = applyParameters(clause.parameters, mediaType, restrictions);
      if (!negotiated) continue;
      if (clause.subtype === '*' && clause.type !== '*') checkRouteOf(accept, restrictions, streams);
      return negotiated;
    }
  }
  checkRouteOf(accept, restrictions, streams);
  throw newNotAcceptable(mediaTypes);
}

function checkRouteOf(accept: string, { isRouted, mediaTypes }: EndpointRestrictions, streams: boolean): void {
  if (isRouted) checkRoute(accept, streams ? [...mediaTypes, ...streamMediaTypes(mediaTypes)] : mediaTypes);
}

/** What upstream's router refuses: the request did not come to the endpoint. */
export class RouteError extends StatusError {}

/**
 * Upstream's router knows media types and the range of all, and no other ranges: what it finds none for does not come to the endpoint.
 * Upstream: emicklei/go-restful route.go (matchesAccept), jsr311.go.
 */
export function checkRoute(accept: string | undefined, produced: readonly string[]): void {
  if (!accept) return;
  const wanted = accept.split(',').map((clause) => clause.split(';', 1)[0]!.trim());
  if (wanted.some((type) => type === '*/*' || produced.includes(type))) return;
  const message = `406: Not Acceptable\n\nAvailable representations: ${produced.join(', ')}`;
  throw new RouteError(newGenericServerResponse(406, '', { group: '', resource: '' }, '', message, 0, false).status);
}

/** In which media types a watch comes. There is none in YAML. */
export function streamMediaTypes(mediaTypes: readonly string[]): string[] {
  return mediaTypes.filter((type) => type !== 'application/yaml').map(streamMediaType);
}

function streamMediaType(mediaType: string): string {
  return mediaType === 'application/cbor' ? 'application/cbor-seq' : `${mediaType};stream=watch`;
}

function applyParameters(
  parameters: ReadonlyMap<string, string>,
  mediaType: MediaType,
  restrictions: EndpointRestrictions,
): Negotiated | undefined {
  const kind = parameters.get('as');
  const stream = parameters.get('stream');
  if (stream && stream !== 'watch') return undefined;
  if (parameters.get('sv')) return undefined;
  let convert: GroupVersionKind | undefined;
  if (kind !== undefined || parameters.has('g') || parameters.has('v')) {
    convert = { group: parameters.get('g') ?? '', version: parameters.get('v') ?? '', kind: kind ?? '' };
    if (!restrictions.allowsConversion(convert, mediaType)) return undefined;
  } else if (!restrictions.plainProtobuf && mediaType === 'application/vnd.kubernetes.protobuf') return undefined;
  return { mediaType, pretty: parameters.get('pretty') === '1', convert, stream };
}

/** The clauses of an Accept header, the wanted ones first: by quality, then the more specific, then as they stand. */
export function parseAccept(header: string): Clause[] {
  const clauses: Clause[] = [];
  for (const text of header.split(',')) {
    const [range = '', ...rest] = text.split(';');
    const [type = '', subtype = ''] = range.trim().split('/');
    if (!type || (!subtype && type !== '*')) continue;
    const parameters = new Map<string, string>();
    let quality = 1;
    for (const one of rest) {
      const equals = one.indexOf('=');
      if (equals < 0) continue;
      const name = one.slice(0, equals).trim();
      const value = one.slice(equals + 1).trim();
      if (name === 'q') quality = Number(value) || 0;
      else parameters.set(name, value);
    }
    clauses.push({ type, subtype: subtype || '*', quality, parameters });
  }
  const vagueness = (clause: Clause): number => (clause.type === '*' ? 2 : clause.subtype === '*' ? 1 : 0);
  return clauses.sort((a, b) => b.quality - a.quality || vagueness(a) - vagueness(b));
}

/** The media type that a watch says it has: JSON does not say that it is a stream. */
export function watchMediaType(mediaType: MediaType): string {
  return mediaType === 'application/json' ? mediaType : streamMediaType(mediaType);
}

/** What strconv.ParseBool takes for true. */
const trueWords: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);

/** Whether `?pretty=` or the client's kind asks for indented JSON. */
export function isPretty(query: string, userAgent: string | undefined): boolean {
  if (query.includes('pretty')) {
    const value = new URLSearchParams(query).get('pretty');
    if (value) return trueWords.has(value);
  }
  return userAgent !== undefined && /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}
