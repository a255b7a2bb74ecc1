import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { stringColumn } from '#kubernetes/apis/columns';
import { loadBalancerText, loadBalancerWarnings } from '#kubernetes/apis/core/load-balancer';
import { validateIngress, validateIngressStatusUpdate, validateIngressUpdate } from '#kubernetes/apis/networking/validation/ingress';
import { specAndStatus, statusSubresource } from '#kubernetes/apis/strategy';
import type { Ingress } from '#kubernetes/schema/networking_v1.gen';

/**
 * Formats the first hosts. As upstream, a fourth named host ends the list, and the number of further rules includes rules without a host.
 */
function hostsText({ spec }: Ingress): string {
  const rules = spec?.rules ?? [];
  const hosts: string[] = [];
  let more = false;
  for (const { host } of rules) {
    if (hosts.length === 3) more = true;
    if (!more && host) hosts.push(host);
  }
  if (hosts.length === 0) return '*';
  return more ? `${hosts.join(',')} + ${rules.length - 3} more...` : hosts.join(',');
}

const classAnnotation = 'kubernetes.io/ingress.class';

function classWarnings({ metadata, spec }: Ingress): string[] {
  if (metadata.annotations?.[classAnnotation] === undefined || spec?.ingressClassName !== undefined) return [];
  return [`annotation ${JSON.stringify(classAnnotation)} is deprecated, please use 'spec.ingressClassName' instead`];
}

export default defineResource<Ingress>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'Ingress',
  resource: 'ingresses',
  shortNames: ['ing'],
  storageVersionHash: '39NQlfNR+bo=',
  schema: 'networking_v1.Ingress',
  storagePath: 'ingress',
  strategy: specAndStatus({ validate: validateIngress, validateUpdate: validateIngressUpdate, warningsOnCreate: classWarnings }),
  columns: [
    nameColumn,
    stringColumn(
      'Class',
      'The name of the IngressClass resource that should be used for additional configuration',
      ({ spec }) => spec?.ingressClassName ?? '<none>',
    ),
    stringColumn('Hosts', 'Hosts that incoming requests are matched against before the ingress rule', hostsText),
    stringColumn('Address', 'Address is a list containing ingress points for the load-balancer', ({ status }) =>
      loadBalancerText(status?.loadBalancer?.ingress),
    ),
    stringColumn('Ports', 'Ports of TLS configurations that open', ({ spec }) => (spec?.tls?.length ? '80, 443' : '80')),
    ageColumn,
  ],
  subresources: {
    status: statusSubresource<Ingress>({
      strategy: { validateUpdate: validateIngressStatusUpdate, warningsOnUpdate: loadBalancerWarnings },
    }),
  },
});
