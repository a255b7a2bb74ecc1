import type { AdmissionMatch, KubeObject } from 'kubenest/sdk';

/** Requests that bind a pod to a node. The labels and annotations of the Binding become those of the pod. */
export const podBindings: readonly AdmissionMatch[] = [
  { groups: [''], resources: ['pods'], subresources: ['binding'], operations: ['CREATE'] },
  { groups: [''], resources: ['bindings'], operations: ['CREATE'] },
];

/** True for a Binding, whose labels and annotations replace only those of the same name in the pod. */
export function isBinding({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion === 'v1' && kind === 'Binding';
}
