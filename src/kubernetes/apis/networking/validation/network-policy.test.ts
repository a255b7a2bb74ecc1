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
  { name: 'an exception within the range', object: block('10.0.0.0/8', '10.1.0.0/16'), errors: [] },
  {
    name: 'an exception outside the range',
    object: block('10.0.0.0/8', '11.0.0.0/16'),
    errors: [`${path}.from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of \`cidr\``],
  },
  {
    name: 'an exception equal to the range',
    object: block('10.0.0.0/8', '10.0.0.0/8'),
    errors: [`${path}.from[0].ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of \`cidr\``],
  },
  {
    name: 'an IPv4 exception in an IPv6 range',
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
    name: 'an end port below the port',
    object: policy([], [{ port: 5, endPort: 4 }]),
    errors: [`${path}.ports[0].endPort: Invalid value: 5: must be greater than or equal to \`port\``],
  },
  {
    name: 'an end port with a named port',
    object: policy([], [{ port: 'http', endPort: 4 }]),
    errors: [`${path}.ports[0].endPort: Invalid value: 4: may not be specified when \`port\` is non-numeric`],
  },
])('$name', ({ object, errors }) => {
  expect(validateNetworkPolicy(object, {}).map(String)).toEqual(errors);
});
