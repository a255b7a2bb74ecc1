import { Buffer } from 'node:buffer';
import { newNotAcceptable } from '#apimachinery/api/errors';
import { encodeCbor } from '#apimachinery/runtime/cbor/cbor';
import { indentJson } from '#apimachinery/runtime/json/indent';
import { encodeYaml } from '#apimachinery/runtime/yaml/yaml-emitter';
import { type Clause, isPretty, parseAccept } from '#apiserver/endpoints/handlers/negotiation';
import type { MediaType } from '#apiserver/request/media-type';
import { respondBytes } from '#apiserver/endpoints/handlers/responses';
import type { Handler, RequestContext } from '#apiserver/request/request-context';

const group = 'config.k8s.io';
/** Possible delimiters between a name and its value. One is chosen at random so that programs do not parse the text. */
const delimiters = [':', ': ', '=', ' '] as const;
const structuredTypes: readonly MediaType[] = ['application/json', 'application/yaml'];

/** Content of a debugging page, as text and in the versions of its kind. */
export interface DebuggingPage {
  /** `statusz` or `flagz`. */
  readonly name: string;
  /** `Statusz` or `Flagz`. */
  readonly kind: string;
  /** Fields of the kind beside its metadata. */
  fields(): object;
  /** Text below the heading. */
  text(delimiter: string): string;
}

interface Form {
  readonly mediaType: MediaType | 'text/plain';
  /** Version of the kind; empty for text. */
  readonly version: string;
  readonly pretty: boolean;
}

/**
 * Returns the handler of a debugging page. `hasCbor` is true if it is also served as CBOR. Upstream:
 * apiserver/pkg/server/statusz/statusz.go, apiserver/pkg/server/flagz/flagz.go.
 */
export function debuggingPage(page: DebuggingPage, hasCbor: boolean): Handler {
  const types: readonly (MediaType | 'text/plain')[] = [
    ...structuredTypes,
    ...(hasCbor ? ['application/cbor' as const] : []),
    'text/plain',
  ];
  const measured = { group: '', version: '', resource: page.name, subresource: '', component: 'apiserver', isCustom: false };
  return (context) => {
    context.measured = measured;
    context.mediaTypes = structuredTypes;
    const form = formOf(context.header('accept') ?? '', types, page.kind);
    if (!form) throw newNotAcceptable(types);
    if (form.mediaType === 'text/plain') {
      const delimiter = delimiters[Math.floor(Math.random() * delimiters.length)] ?? ':';
      return respondBytes(context, 200, 'text/plain; charset=utf-8', Buffer.from(heading(page.name) + page.text(delimiter)));
    }
    context.measured = { ...measured, group, version: form.version };
    if (form.version === 'v1alpha1') context.warn(`This version of the ${page.name} endpoint is deprecated. Please use a newer version.`);
    const { kind } = page;
    const object = { kind, apiVersion: `${group}/${form.version}`, metadata: { name: 'apiserver' }, ...page.fields() };
    const type = `${form.mediaType};g=${group};v=${form.version};as=${kind}`;
    respondBytes(context, 200, type, encoded(context, object, form));
  };
}

function heading(name: string): string {
  return `
apiserver ${name}
Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.
`;
}

function encoded(context: RequestContext, object: object, { mediaType, pretty }: Form): Buffer {
  if (mediaType === 'application/yaml') return Buffer.from(encodeYaml(object));
  if (mediaType === 'application/cbor') return encodeCbor(undefined, object);
  const json = JSON.stringify(object);
  return Buffer.from(pretty || isPretty(context.query, context.header('user-agent')) ? indentJson(json) : `${json}\n`);
}

/**
 * Negotiates the form of the response. Structured forms require a version in the Accept header; text has none. Upstream:
 * statusz/negotiate/negotiation.go.
 */
function formOf(accept: string, types: readonly Form['mediaType'][], kind: string): Form | undefined {
  if (accept.trim() === '') return { mediaType: 'text/plain', version: '', pretty: false };
  for (const clause of parseAccept(accept)) {
    const { parameters } = clause;
    if (parameters.get('stream') || parameters.get('sv')) continue;
    const version = parameters.get('v') ?? '';
    const isAsked = parameters.has('as') || parameters.has('g') || parameters.has('v');
    const isKnown = parameters.get('as') === kind && parameters.get('g') === group && (version === 'v1beta1' || version === 'v1alpha1');
    const mediaType = types.find((type) => matches(clause, type) && (type === 'text/plain' ? !isAsked : isKnown));
    if (mediaType) return { mediaType, version, pretty: parameters.get('pretty') === '1' };
  }
  return undefined;
}

function matches({ type, subtype }: Clause, mediaType: string): boolean {
  const [wanted, rest] = mediaType.split('/');
  return (type === '*' || type === wanted) && (subtype === '*' || subtype === rest);
}
