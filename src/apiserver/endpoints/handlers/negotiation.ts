import type { MediaType } from '#apiserver/request/media-type';
import { newGenericServerResponse, newNotAcceptable, StatusError } from '#apimachinery/api/errors';
import type { GroupVersionKind } from '#apimachinery/meta/types';

/** Negotiated form of a response. */
export interface Negotiated {
  readonly mediaType: MediaType;
  /** True for `;pretty=1`, `?pretty=`, and for browsers, curl and wget. JSON only. */
  readonly pretty: boolean;
  /** Requested conversion, such as `;as=Table;v=v1;g=meta.k8s.io`. */
  readonly convert: GroupVersionKind | undefined;
  readonly stream: string | undefined;
  /** Requested profile, such as `nopeer`; not part of the response's media type. */
  readonly profile: string | undefined;
}

/** Media types that every endpoint supports, in order of preference. */
export const standardMediaTypes: readonly MediaType[] = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

export interface EndpointRestrictions {
  /** Media types of request and response bodies, in order of preference. */
  readonly mediaTypes: readonly MediaType[];
  /** True if upstream's router checks the Accept header before the endpoint. */
  readonly isRouted: boolean;
  /** True if the unconverted object has a protobuf form. */
  readonly plainProtobuf: boolean;
  allowsConversion(kind: GroupVersionKind, mediaType: MediaType): boolean;
}

/** Restrictions of endpoints that return only a Status or a plain object. */
export const plainRestrictions: EndpointRestrictions = {
  mediaTypes: standardMediaTypes,
  isRouted: false,
  plainProtobuf: true,
  allowsConversion: () => false,
};

/** Feature gate of CBOR. Upstream: apiserver/pkg/features. */
export const cborGate = 'CBORServingAndStorage';

/** Returns the restrictions with CBOR. */
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

const plainJson: Negotiated = { mediaType: 'application/json', pretty: false, convert: undefined, stream: undefined, profile: undefined };

/**
 * Negotiates the media type of the response; `streams` is true if it may be a stream. Throws NotAcceptable (406) if none fits.
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

/** An error of upstream's router: the request did not reach the endpoint. */
export class RouteError extends StatusError {}

/**
 * Applies the Accept check of upstream's router, which knows media types and the range of all types, but no other ranges. Throws RouteError
 * if none matches. Upstream: emicklei/go-restful route.go (matchesAccept), jsr311.go.
 */
export function checkRoute(accept: string | undefined, produced: readonly string[]): void {
  if (!accept) return;
  const wanted = accept.split(',').map((clause) => clause.split(';', 1)[0]!.trim());
  if (wanted.some((type) => type === '*/*' || produced.includes(type))) return;
  const message = `406: Not Acceptable\n\nAvailable representations: ${produced.join(', ')}`;
  throw new RouteError(newGenericServerResponse(406, '', { group: '', resource: '' }, '', message, 0, false).status);
}

/** Returns the media types of watches, which exclude YAML. */
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
  return { mediaType, pretty: parameters.get('pretty') === '1', convert, stream, profile: parameters.get('profile') };
}

const noParameters: ReadonlyMap<string, string> = new Map();

/** Parses an Accept header. Clauses are sorted by quality, then specificity, then position. */
export function parseAccept(header: string): Clause[] {
  const clauses: Clause[] = [];
  for (const text of header.split(',')) {
    const [range = '', ...rest] = text.split(';');
    const [type = '', subtype = ''] = range.trim().split('/');
    if (!type || (!subtype && type !== '*')) continue;
    // Most clauses of a long header have none.
    let parameters: Map<string, string> | undefined;
    let quality = 1;
    for (const one of rest) {
      const equals = one.indexOf('=');
      if (equals < 0) continue;
      const name = one.slice(0, equals).trim();
      const value = one.slice(equals + 1).trim();
      if (name === 'q') quality = Number(value) || 0;
      else (parameters ??= new Map()).set(name, value);
    }
    clauses.push({ type, subtype: subtype || '*', quality, parameters: parameters ?? noParameters });
  }
  const vagueness = (clause: Clause): number => (clause.type === '*' ? 2 : clause.subtype === '*' ? 1 : 0);
  return clauses.sort((a, b) => b.quality - a.quality || vagueness(a) - vagueness(b));
}

/** Returns the Content-Type of a watch; for JSON it has no stream parameter. */
export function watchMediaType(mediaType: MediaType): string {
  return mediaType === 'application/json' ? mediaType : streamMediaType(mediaType);
}

/** Texts that strconv.ParseBool converts to true. */
const trueWords: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);

/** True if `?pretty=` or the user agent requests indented JSON. */
export function isPretty(query: string, userAgent: string | undefined): boolean {
  if (query.includes('pretty')) {
    const value = new URLSearchParams(query).get('pretty');
    if (value) return trueWords.has(value);
  }
  return userAgent !== undefined && /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}
