import type { GroupVersionResource } from '#apimachinery/meta/types';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import type { Store } from '#apiserver/registry/store';
import type { AdmissionTarget } from './request-admission.ts';

/** An endpoint, as far as admission uses it. */
export interface AdmittedEndpoint {
  readonly admission: AdmissionTarget;
  readonly definition: Pick<ResourceDefinition, 'namespaced'>;
  readonly store: Pick<Store, 'get'>;
}

/** Returns the endpoint of a resource that a Nest controller writes. Throws if the resource is not served. */
export type EndpointLookup = (resource: GroupVersionResource) => AdmittedEndpoint;
export const EndpointLookup = Symbol.for('kubenest.EndpointLookup');
