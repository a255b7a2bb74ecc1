import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import { endpointsWarnings, validateEndpoints, validateEndpointsUpdate } from '#kubernetes/apis/core/validation/endpoints';
import type { Endpoints } from '#kubernetes/schema/core_v1.gen';
import { defaultEndpoints } from './defaults.ts';

/** Formats the first three `ip:port` (or `ip` without ports) and the number of further ones. */
function endpointsText({ subsets }: Endpoints): string {
  if (!subsets?.length) return '<none>';
  const all = subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports.length === 0
      ? addresses.map(({ ip = '' }) => ip)
      : ports.flatMap(({ port = 0 }) => addresses.map(({ ip = '' }) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`))),
  );
  const text = all.slice(0, 3).join(',');
  return all.length > 3 ? `${text} + ${all.length - 3} more...` : text;
}

export default defineResource<Endpoints>({
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  resource: 'endpoints',
  singular: 'endpoints',
  shortNames: ['ep'],
  storageVersionHash: 'fWeeMqaN/OA=',
  schema: 'core_v1.Endpoints',
  storagePath: 'services/endpoints',
  deprecationWarning: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  defaults: defaultEndpoints,
  strategy: {
    allowCreateOnUpdate: true,
    validate: validateEndpoints,
    validateUpdate: validateEndpointsUpdate,
    warningsOnCreate: endpointsWarnings,
    warningsOnUpdate: endpointsWarnings,
  },
  columns: [nameColumn, stringColumn('Endpoints', describe('core_v1.Endpoints', 'subsets'), endpointsText), ageColumn],
});
