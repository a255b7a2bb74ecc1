import { fieldPath } from '#apimachinery/validation/field';
import { getWarningsForIP } from '#apimachinery/validation/ip';
import { compareBytes } from '#kubernetes/apis/columns';

/** Formats the distinct addresses of a load balancer in order: `10.1.2.3,lb.example.com`. */
export function loadBalancerText(ingress: readonly { ip?: string; hostname?: string }[] | undefined): string {
  const addresses = new Set((ingress ?? []).map(({ ip, hostname }) => ip || hostname || ''));
  addresses.delete('');
  return [...addresses].sort(compareBytes).join(',');
}

interface WithLoadBalancer {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } };
}

/** Warnings about non-canonical load balancer addresses of a Service or an Ingress. */
export function loadBalancerWarnings({ status }: WithLoadBalancer): string[] {
  const path = fieldPath('status', 'loadBalancer', 'ingress');
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }, i) => (ip ? getWarningsForIP(path.index(i), ip) : []));
}
