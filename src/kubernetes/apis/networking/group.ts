import type { ApiGroup } from '#apiserver/registry/api-group';
import ingressclasses from './v1/ingressclasses.ts';
import ingresses from './v1/ingresses.ts';
import ipaddresses from './v1/ipaddresses.ts';
import networkpolicies from './v1/networkpolicies.ts';
import servicecidrs from './v1/servicecidrs.ts';
import ipaddressesV1beta1 from './v1beta1/ipaddresses.ts';
import servicecidrsV1beta1 from './v1beta1/servicecidrs.ts';

/** The API group networking.k8s.io. */
export const networkingGroup: ApiGroup = {
  group: 'networking.k8s.io',
  versions: [
    { version: 'v1', versionPriority: 15 },
    { version: 'v1beta1', versionPriority: 9 },
  ],
  groupPriorityMinimum: 17200,
  resources: [ingressclasses, ingresses, ipaddresses, networkpolicies, servicecidrs, ipaddressesV1beta1, servicecidrsV1beta1],
};
