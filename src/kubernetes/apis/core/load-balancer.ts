import { fieldPath } from '#apimachinery/validation/field';
import { getWarningsForIP } from '#apimachinery/validation/ip';
import { compareBytes } from '#kubernetes/apis/columns';

/** The addresses of a load balancer in order, each once: `10.1.2.3,lb.example.com`. */
export function loadBalancerText(ingress: readonly { ip?: string; hostname?: string }[] | undefined): string {
  const addresses = new Set((ingress ?? []).map(({ ip, hostname }) => ip || hostname || ''));
  addresses.delete('');
  return [...addresses].sort(compareBytes).join(',');
}

interface WithLoadBalancer {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } };
}

/** Warnings about addresses of a load balancer that are not in canonical form, of a Service or an Ingress. */
export function loadBalancerWarnings({ status }: WithLoadBalancer): string[] {
  const path = fieldPath('status', 'loadBalancer', 'ingress');
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }, i) => (ip ? getWarningsForIP(path.index(i), ip) : []));
}
