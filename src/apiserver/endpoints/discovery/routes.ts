import type { Handler } from '#apiserver/request/request-context';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { measuredPath } from '#apiserver/endpoints/handlers/measurement';
import { negotiate, plainRestrictions, type EndpointRestrictions, withCbor } from '#apiserver/endpoints/handlers/negotiation';
import { respondBytes, respondJson, respondNoRoute, setHeader } from '#apiserver/endpoints/handlers/responses';
import type { RequestContext } from '#apiserver/request/request-context';
import { onlyGet, type PathMux, trimSlashes } from '#apiserver/endpoints/path-mux';
import { sourceIPsOf } from '#apiserver/request/source-ips';
import type { DiscoveryDocument, DiscoveryRegistry, ServerAddress } from './discovery-registry.ts';
import { encodedDocument } from './encoded-document.ts';

const restrictions: EndpointRestrictions = {
  ...plainRestrictions,
  allowsConversion: ({ group, version, kind }, mediaType) =>
    group === 'apidiscovery.k8s.io' && version === 'v2' && kind === 'APIGroupDiscoveryList' && mediaType !== 'application/cbor',
};

/** Restrictions of the documents that upstream serves through its router: /api, and the versions of built-in groups. */
const routedRestrictions: EndpointRestrictions = { ...restrictions, isRouted: true };

/** Restrictions of the documents of groups and versions, which have no aggregated form. */
const routedDocument: EndpointRestrictions = { ...plainRestrictions, isRouted: true };

/** Metric labels of aggregated documents; others are not counted. Upstream: endpoints/discovery/aggregated/handler.go. */
const measured = { api: measuredPath('api', 'apiserver'), apis: measuredPath('apis', 'apiserver') };

/** Properties of the server that discovery shows. */
export interface DiscoveryTraits {
  /** True if lists of built-in resources are also served as CBOR. */
  readonly hasCbor: boolean;
  /** Returns the addresses at which a client reaches the server. */
  readonly addresses: (clientIP: string | undefined) => readonly ServerAddress[];
}

/** Installs /api, /apis, and the paths of groups and versions below, aggregated if the client requests it. */
export function installDiscovery(
  mux: PathMux,
  discovery: DiscoveryRegistry,
  notFound: Handler,
  { hasCbor, addresses }: DiscoveryTraits,
): void {
  const ofBuiltIn = hasCbor ? withCbor(routedDocument) : routedDocument;
  const root =
    (name: 'api' | 'apis', allowed: EndpointRestrictions, plain: (context: RequestContext) => DiscoveryDocument | undefined) =>
    (context: RequestContext): void => {
      const negotiated = negotiate(context.header('accept'), allowed);
      if (!negotiated.convert) return respondDocument(context, plain(context), allowed);
      const document = discovery.aggregated(name, negotiated.profile !== 'nopeer');
      setHeader(context.headers, 'Cache-Control', 'public');
      context.measured = measured[name];
      context.headers.push('ETag', `"${document.etag}"`, 'Vary', 'Accept');
      if (context.header('if-none-match') === `"${document.etag}"`) return respondBytes(context, 304, undefined, undefined);
      return respondBytes(
        context,
        200,
        `${negotiated.mediaType};g=apidiscovery.k8s.io;v=${negotiated.convert.version};as=APIGroupDiscoveryList`,
        encodedDocument(document, negotiated.mediaType),
      );
    };
  const legacy = onlyGet(root('api', routedRestrictions, (context) => discovery.legacyVersions(addresses(sourceIPsOf(context)[0]))));
  const groups = root('apis', restrictions, () => discovery.groupList());
  mux.handle('/api', legacy);
  mux.handlePrefix('/api/', (context) => {
    const [, , version, ...rest] = trimSlashes(context.path).split('/');
    if (version === undefined) return legacy(context);
    return respondToGet(context, rest.length === 0 ? discovery.resources('', version) : undefined, ofBuiltIn);
  });
  mux.handle('/apis', groups);
  mux.handle('/apis/', groups);
  mux.handlePrefix('/apis/', (context) => {
    const [, , group = '', version, ...rest] = trimSlashes(context.path).split('/');
    if (!discovery.group(group)) return notFound(context);
    if (rest.length > 0) return respondDocument(context, undefined, plainRestrictions);
    if (version === undefined) return respondDocument(context, discovery.group(group), plainRestrictions);
    const document = discovery.resources(group, version);
    if (!document && !discovery.isOwn(group)) return notFound(context);
    return discovery.isCustom(group, version)
      ? respondDocument(context, document, plainRestrictions)
      : respondToGet(context, document, ofBuiltIn);
  });
}

function respondToGet(context: RequestContext, document: DiscoveryDocument | undefined, allowed: EndpointRestrictions): void {
  if (document && context.method !== 'GET') return respondNoRoute(context, 405);
  respondDocument(context, document, allowed);
}

function respondDocument(context: RequestContext, document: DiscoveryDocument | undefined, allowed: EndpointRestrictions): void {
  if (!document) return respondNoRoute(context, 404);
  respondJson(context, 200, document.json, negotiate(context.header('accept'), allowed), metaSchema.struct(document.schema));
}
