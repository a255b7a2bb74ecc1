import { type Attributes, Quantity } from 'kubenest/sdk';
import type { Service } from 'kubenest/kinds';
import { objectCountName, type QuotaEvaluator } from './evaluator.ts';
import { one, type QuotaAmounts, zero } from './quota-amounts.ts';

const countName = objectCountName('', 'services');
const resources = [countName, 'services', 'services.nodeports', 'services.loadbalancers'];

/**
 * Computes the usage of services: their number, load balancers and node ports. Upstream:
 * kubernetes/pkg/quota/v1/evaluator/core/services.go.
 */
export class ServiceEvaluator implements QuotaEvaluator {
  handles({ operation, subresource }: Attributes): boolean {
    return subresource === '' && (operation === 'CREATE' || operation === 'UPDATE');
  }

  matchingResources(names: Iterable<string>): string[] {
    return [...names].filter((name) => resources.includes(name));
  }

  matchesScope(): boolean {
    return false;
  }

  usage({ spec }: Service): QuotaAmounts {
    const isBalanced = spec?.type === 'LoadBalancer';
    const ports = spec?.ports ?? [];
    const taken = isBalanced && spec.allocateLoadBalancerNodePorts === false ? ports.filter(({ nodePort }) => nodePort) : ports;
    return new Map([
      [countName, one],
      ['services', one],
      ['services.loadbalancers', isBalanced ? one : zero],
      ['services.nodeports', isBalanced || spec?.type === 'NodePort' ? Quantity.fromInteger(taken.length) : zero],
    ]);
  }
}
