import { compareBytes } from '#kubernetes/apis/columns';

/** The addresses of a load balancer in order, each once: `10.1.2.3,lb.example.com`. */
export function loadBalancerText(ingress: readonly { ip?: string; hostname?: string }[] | undefined): string {
  const addresses = new Set((ingress ?? []).map(({ ip, hostname }) => ip || hostname || ''));
  addresses.delete('');
  return [...addresses].sort(compareBytes).join(',');
}
