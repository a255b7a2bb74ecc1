import { expect, it } from 'vitest';
import type { IPBlock, NetworkPolicyPort } from '#kubernetes/schema/networking_v1.gen';
import { validateNetworkPolicy } from './network-policy.ts';

function policy(from: { ipBlock?: IPBlock; podSelector?: object }[], ports: NetworkPolicyPort[] = []) {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'p' },
    spec: { podSelector: {}, ingress: [{ from, ports }] },
  };
}
const block = (cidr: string, ...except: string[]) => policy([{ ipBlock: { cidr, except } }]);
const path = 'spec.ingress[0]';

it.each([
  { name: 'a range without a part of it', object: block('10.0.0.0/8', '10.1.0.0/16'), errors: [] },
  {
    name: 'a range without another',
    object: block('10.0.0.0/8', '11.0.0.0/16'),
    errors: [`${path}.from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of \`cidr\``],
  },
  {
    name: 'a range without itself',
    object: block('10.0.0.0/8', '10.0.0.0/8'),
    errors: [`${path}.from[0].ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of \`cidr\``],
  },
  {
    name: 'a range of IPv6 without one of IPv4',
    object: block('::/0', '10.0.0.0/8'),
    errors: [`${path}.from[0].ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of \`cidr\``],
  },
  { name: 'no peer', object: policy([{}]), errors: [`${path}.from[0]: Required value: must specify a peer`] },
  {
    name: 'two peers',
    object: policy([{ ipBlock: { cidr: '10.0.0.0/8' }, podSelector: {} }]),
    errors: [`${path}.from[0]: Forbidden: may not specify both ipBlock and another peer`],
  },
  { name: 'ports', object: policy([], [{ port: 5, endPort: 6 }, { port: 'http' }]), errors: [] },
  {
    name: 'ports that end before they begin',
    object: policy([], [{ port: 5, endPort: 4 }]),
    errors: [`${path}.ports[0].endPort: Invalid value: 5: must be greater than or equal to \`port\``],
  },
  {
    name: 'an end without a number',
    object: policy([], [{ port: 'http', endPort: 4 }]),
    errors: [`${path}.ports[0].endPort: Invalid value: 4: may not be specified when \`port\` is non-numeric`],
  },
])('$name', ({ object, errors }) => {
  expect(validateNetworkPolicy(object).map(String)).toEqual(errors);
});
