import type { KubeObject } from '#apimachinery/meta/types';
import { quote } from '#apimachinery/runtime/quote';
import type { APIServiceCondition, APIServiceStatus, ServiceReference } from '#kube-aggregator/schema/apiregistration_v1.gen';

/** The fields of a Service that are used here. */
export interface ServiceObject extends KubeObject {
  readonly spec?: { readonly type?: string; readonly ports?: readonly { readonly name?: string; readonly port?: number }[] };
}

/** The fields of an EndpointSlice that are used here. */
export interface EndpointSliceObject extends KubeObject {
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[];
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[];
}

export type Availability = Required<Pick<APIServiceCondition, 'status' | 'reason' | 'message'>>;

export const localAvailability: Availability = { status: 'True', reason: 'Local', message: 'Local APIServices are always available' };
export const passedAvailability: Availability = { status: 'True', reason: 'Passed', message: 'all checks passed' };

function unavailable(reason: string, message: string): Availability {
  return { status: 'False', reason, message };
}

export function failedDiscoveryCheck(message: string): Availability {
  return unavailable('FailedDiscoveryCheck', message);
}

/**
 * Returns why the service of an APIService is unavailable according to the cluster's objects; undefined if it can be probed. Services of
 * other types than ClusterIP are always probed. Upstream: controllers/status/remote (sync).
 */
export function serviceProblem(
  { namespace = '', name = '', port = 443 }: ServiceReference,
  service: ServiceObject | undefined,
  slices: readonly EndpointSliceObject[],
): Availability | undefined {
  const place = `service/${name} in ${quote(namespace)}`;
  if (!service) return unavailable('ServiceNotFound', `${place} is not present`);
  const { type = 'ClusterIP', ports = [] } = service.spec ?? {};
  if (type !== 'ClusterIP') return undefined;
  const found = ports.find((one) => one.port === port);
  if (!found) return unavailable('ServicePortError', `${place} is not listening on port ${port}`);
  if (slices.length === 0) return unavailable('EndpointsNotFound', `cannot find endpointslices for ${place}`);
  const portName = found.name ?? '';
  const isReady = slices.some(
    (slice) =>
      slice.endpoints?.some(({ conditions }) => conditions?.ready !== false) &&
      slice.ports?.some((one) => (one.name ?? '') === portName && one.port !== undefined),
  );
  return isReady
    ? undefined
    : unavailable('MissingEndpoints', `endpointslices for ${place} have no addresses with port name ${quote(portName)}`);
}

export function isAvailable(status: APIServiceStatus | undefined): boolean {
  return status?.conditions?.find(({ type }) => type === 'Available')?.status === 'True';
}

/**
 * Returns a status with the wanted condition Available; undefined if it is up to date. The transition time changes only with the status.
 * `now` is RFC 3339 in whole seconds.
 */
export function withAvailability(status: APIServiceStatus | undefined, wanted: Availability, now: string): APIServiceStatus | undefined {
  const conditions = [...(status?.conditions ?? [])];
  const at = conditions.findIndex(({ type }) => type === 'Available');
  const present = conditions[at];
  if (present?.status === wanted.status && present.reason === wanted.reason && present.message === wanted.message) return undefined;
  const lastTransitionTime = present?.status === wanted.status ? (present.lastTransitionTime ?? now) : now;
  const next: APIServiceCondition = { type: 'Available', ...wanted, lastTransitionTime };
  if (at < 0) conditions.push(next);
  else conditions[at] = next;
  return { ...status, conditions };
}
