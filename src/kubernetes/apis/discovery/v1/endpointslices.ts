import { nextGeneration } from '#apimachinery/meta/generation';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { describe, listWithMore, stringColumn } from '#kubernetes/apis/columns';
import {
  addressTypeWarnings,
  addressWarnings,
  validateEndpointSlice,
  validateEndpointSliceUpdate,
} from '#kubernetes/apis/discovery/validation/endpoint-slice';
import { equalAs } from '#kubernetes/apis/equal-as';
import type { Endpoint, EndpointSlice } from '#kubernetes/schema/discovery_v1.gen';
import { defaultEndpointSlice } from './defaults.ts';

/** Drops the topology of v1beta1, which v1 does not have. A hostname in it that the old object already had becomes the node name. */
function dropTopology(slice: EndpointSlice, old: EndpointSlice): void {
  const nodeNames = new Set((old.endpoints ?? []).filter((endpoint) => endpoint.nodeName === undefined).map(hostname));
  for (const endpoint of slice.endpoints ?? []) {
    const name = hostname(endpoint);
    if (endpoint.nodeName === undefined && name !== undefined && nodeNames.has(name)) endpoint.nodeName = name;
    delete endpoint.deprecatedTopology;
  }
}

function hostname({ deprecatedTopology }: Endpoint): string | undefined {
  return deprecatedTopology?.['kubernetes.io/hostname'];
}

export default defineResource<EndpointSlice>({
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  resource: 'endpointslices',
  storageVersionHash: 'qgS0xkrxYAI=',
  schema: 'discovery_v1.EndpointSlice',
  storagePath: 'endpointslices',
  defaults: defaultEndpointSlice,
  strategy: {
    prepareForCreate(slice) {
      slice.metadata.generation = 1;
      for (const endpoint of slice.endpoints ?? []) delete endpoint.deprecatedTopology;
    },
    prepareForUpdate(slice, old) {
      const { addressType, endpoints, ports } = old;
      const { addressType: newType, endpoints: newEndpoints, ports: newPorts } = slice;
      const changed = !equalAs(
        'discovery_v1.EndpointSlice',
        { addressType: newType, endpoints: newEndpoints, ports: newPorts },
        { addressType, endpoints, ports },
      );
      if (changed || !semanticDeepEqual(slice.metadata.labels, old.metadata.labels))
        slice.metadata.generation = nextGeneration(old.metadata.generation);
      if (!semanticDeepEqual(slice.endpoints, old.endpoints)) dropTopology(slice, old);
    },
    genericMeta: 'update',
    validate: (slice, server) => validateEndpointSlice(slice, undefined, server),
    validateUpdate: validateEndpointSliceUpdate,
    warningsOnCreate: (slice) => [...addressTypeWarnings(slice), ...addressWarnings(slice)],
    warningsOnUpdate: addressWarnings,
  },
  columns: [
    nameColumn,
    stringColumn('AddressType', describe('discovery_v1.EndpointSlice', 'addressType'), (slice) => slice.addressType ?? ''),
    stringColumn('Ports', describe('discovery_v1.EndpointSlice', 'ports'), (slice) =>
      listWithMore((slice.ports ?? []).map((port) => (port.port !== undefined ? String(port.port) : (port.name ?? '*')))),
    ),
    stringColumn('Endpoints', describe('discovery_v1.EndpointSlice', 'endpoints'), (slice) =>
      listWithMore((slice.endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? [])),
    ),
    ageColumn,
  ],
});
