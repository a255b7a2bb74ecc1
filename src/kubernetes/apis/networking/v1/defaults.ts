/** Defaults of network policies and ingress classes. Upstream: pkg/apis/networking/v1/defaults.go. */
import type { IngressClass, NetworkPolicy, NetworkPolicyPort } from '#kubernetes/schema/networking_v1.gen';

export function defaultNetworkPolicy(policy: NetworkPolicy): void {
  const spec = (policy.spec ??= {});
  if (!spec.policyTypes?.length) spec.policyTypes = spec.egress?.length ? ['Ingress', 'Egress'] : ['Ingress'];
  for (const { ports } of spec.ingress ?? []) defaultPorts(ports);
  for (const { ports } of spec.egress ?? []) defaultPorts(ports);
}

function defaultPorts(ports: readonly NetworkPolicyPort[] | undefined): void {
  for (const port of ports ?? []) port.protocol ??= 'TCP';
}

export function defaultIngressClass({ spec }: IngressClass): void {
  if (spec?.parameters !== undefined) spec.parameters.scope ??= 'Cluster';
}
