import type { AdmissionMatch } from 'kubenest/sdk';
import type { Ingress } from 'kubenest/types/networking_v1';

/** Requests that create or change ingresses. The subresource `status` can change the annotation of the class. */
export const ingresses: readonly AdmissionMatch[] = [
  { groups: ['networking.k8s.io'], resources: ['ingresses'], subresources: ['', 'status'], operations: ['CREATE', 'UPDATE'] },
];

/** Annotation of ingresses that are older than `spec.ingressClassName`. */
const classAnnotation = 'kubernetes.io/ingress.class';

/** Returns the class of an ingress; undefined: that of the cluster. */
export function classOf({ metadata, spec }: Ingress): string | undefined {
  return spec?.ingressClassName ?? metadata.annotations?.[classAnnotation];
}

/** Returns the hosts of the rules; an empty one stands for all hosts. */
export function hostsOf({ spec }: Ingress): string[] {
  return (spec?.rules ?? []).map(({ host = '' }) => host);
}
