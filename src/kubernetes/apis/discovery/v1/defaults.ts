import type { EndpointSlice } from '#kubernetes/schema/discovery_v1.gen';

/** Defaults name and protocol of the ports of an endpoint slice. Upstream: pkg/apis/discovery/v1/defaults.go. */
export function defaultEndpointSlice({ ports }: EndpointSlice): void {
  for (const port of ports ?? []) {
    port.name ??= '';
    port.protocol ??= 'TCP';
  }
}
