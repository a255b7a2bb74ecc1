import { newGenericServerResponse } from '#apimachinery/api/errors';
import type { Handler } from '#apiserver/endpoints/request/request-context';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { negotiate, type EndpointRestrictions } from '#apiserver/endpoints/handlers/negotiation';
import { respondBytes, respondError, respondJson } from '#apiserver/endpoints/handlers/responses';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import type { PathMux } from '#apiserver/server/path-mux';
import type { DiscoveryDocument, DiscoveryRegistry } from './discovery-registry.ts';

const restrictions: EndpointRestrictions = {
  protobuf: true,
  plainProtobuf: true,
  allowsConversion: ({ group, version, kind }, mediaType) =>
    group === 'apidiscovery.k8s.io' && version === 'v2' && kind === 'APIGroupDiscoveryList' && mediaType === 'application/json',
};

/** /api, /apis, and below them the groups and their versions. Aggregated where the client asks for it. */
export function installDiscovery(mux: PathMux, discovery: DiscoveryRegistry, notFound: Handler): void {
  const root =
    (name: 'api' | 'apis', plain: (context: RequestContext) => DiscoveryDocument | undefined) =>
    (context: RequestContext): void => {
      const negotiated = negotiate(context.header('accept'), restrictions);
      if (!negotiated.convert) return respondDocument(context, plain(context));
      const document = discovery.aggregated(name);
      context.headers.push('ETag', `"${document.etag}"`, 'Vary', 'Accept');
      if (context.header('if-none-match') === `"${document.etag}"`) return respondBytes(context, 304, undefined, undefined);
      return respondBytes(
        context,
        200,
        `application/json;g=apidiscovery.k8s.io;v=${negotiated.convert.version};as=APIGroupDiscoveryList`,
        document.json,
      );
    };
  mux.handleDocument(
    '/api',
    root('api', (context) => discovery.legacyVersions(context.header('host') ?? context.header(':authority') ?? '')),
  );
  mux.handleDocument(
    '/apis',
    root('apis', () => discovery.groupList()),
  );
  mux.handlePrefix('/api/', (context) => {
    const [, , version = '', ...rest] = trimSlash(context.path).split('/');
    return respondDocument(context, rest.length === 0 ? discovery.resources('', version) : undefined);
  });
  mux.handlePrefix('/apis/', (context) => {
    const [, , group = '', version, ...rest] = trimSlash(context.path).split('/');
    if (!discovery.group(group)) return notFound(context);
    if (rest.length > 0) return respondDocument(context, undefined);
    return respondDocument(context, version === undefined ? discovery.group(group) : discovery.resources(group, version));
  });
}

function trimSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

function respondDocument(context: RequestContext, document: DiscoveryDocument | undefined): void {
  if (!document) return respondError(context, newGenericServerResponse(404, 'get', { group: '', resource: '' }, '', '', 0, false));
  respondJson(context, 200, document.json, negotiate(context.header('accept'), restrictions), metaSchema.struct(document.schema));
}
