import { Buffer } from 'node:buffer';
import { apiExtensionsGroup } from '#apiextensions-apiserver/apis/apiextensions/group';
import { tables as apiextensionsTables } from '#apiextensions-apiserver/schema/schema';
import { groupDocuments, OpenApiRegistry, rootDocuments } from '#apiserver/endpoints/openapi/openapi-registry';
import { installOpenApi } from '#apiserver/endpoints/openapi/routes';
import { apiRegistrationGroup } from '#kube-aggregator/apis/apiregistration/group';
import { tables as aggregatorTables } from '#kube-aggregator/schema/schema';
import { groups } from '#kubernetes/apis/groups';
import { tables } from '#kubernetes/schema/schema';
import { DiscoveryRegistry } from '#apiserver/endpoints/discovery/discovery-registry';
import { respondBytes } from '#apiserver/endpoints/handlers/responses';
import type { Handler } from '#apiserver/request/request-context';
import type { ApiGroup } from '#apiserver/registry/api-group';
import type { Scheme } from '#apiserver/registry/scheme';
import { registerProcessMetrics } from '#apiserver/base/metrics/process-metrics';
import type { GenericServer } from '#apiserver/server/generic-server';
import { cborGate, checkRoute } from '#apiserver/endpoints/handlers/negotiation';
import type { FeatureGates } from '#apiserver/base/feature-gates';
import { installDiscovery } from '#apiserver/endpoints/discovery/routes';
import { type AddressConfig, serverAddresses } from './external-address.ts';
import { type DebuggingRoutes, installDebugging } from './debugging-routes.ts';

/** Documents in which dynamic kinds are published. */
export interface Published {
  readonly discovery: DiscoveryRegistry;
  readonly openApi: OpenApiRegistry;
}

export const Published = Symbol('Published');

/** Installs /, /version, the debugging endpoints and discovery. Upstream: apiserver/pkg/server/routes. */
export function installNonResourceRoutes(
  server: GenericServer,
  scheme: Scheme,
  features: FeatureGates,
  debugging: Omit<DebuggingRoutes, 'features' | 'hasCbor' | 'listed'>,
  addresses: AddressConfig,
): Published {
  const { mux } = server;
  const hasCbor = features.enabled(cborGate);
  registerProcessMetrics(debugging.registry);
  const version = Buffer.from(JSON.stringify(debugging.version, undefined, 2));
  mux.handleDocument('/version', (context) => {
    checkRoute(context.header('accept'), ['application/json']);
    respondBytes(context, 200, 'application/json', version);
  });
  const served = (all: readonly ApiGroup[]): ApiGroup[] => scheme.groups.filter(({ group }) => all.some((one) => one.group === group));
  const openApi = new OpenApiRegistry();
  const traits = { hasCbor, hasEnums: features.enabled('OpenAPIEnums') };
  openApi.set('root', rootDocuments(tables));
  openApi.set('kubernetes', groupDocuments(served(groups), tables, traits));
  openApi.set('apiextensions', groupDocuments(served([apiExtensionsGroup]), apiextensionsTables, traits));
  openApi.set('aggregator', groupDocuments(served([apiRegistrationGroup]), aggregatorTables, traits));
  installOpenApi(mux, openApi);
  const discovery = new DiscoveryRegistry(features.enabled('StorageVersionHash'));
  // Groups of extension servers precede all others.
  discovery.set('aggregator', []);
  discovery.set('kubernetes', scheme.groups);
  installDiscovery(mux, discovery, server.director.notFound, {
    hasCbor,
    addresses: (clientIP) => serverAddresses(addresses, server.address, clientIP),
  });
  const listed = (): Set<string> => new Set([...mux.paths, ...server.healthPaths, ...discovery.paths()]);
  const index: Handler = (context) =>
    respondBytes(context, 200, 'application/json', Buffer.from(JSON.stringify({ paths: [...listed()].sort() }, undefined, 2)));
  installDebugging(server, { ...debugging, features, hasCbor, listed });
  mux.handle('/', index, false);
  mux.handle('/index.html', index, false);
  return { discovery, openApi };
}
