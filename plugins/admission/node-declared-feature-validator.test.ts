import { admissionTable } from 'kubenest/sdk/testing';
import { NodeDeclaredFeatureValidator } from './node-declared-feature-validator.ts';
import { informers, sized } from './test-nodes.ts';

const init = (cpu: string, restartPolicy?: string) => ({
  initContainers: [{ name: 'init', restartPolicy, resources: { requests: { cpu } } }],
});
admissionTable(
  NodeDeclaredFeatureValidator,
  [
    { name: 'a container resize needs no feature', subresource: 'resize', object: sized('2', 2), oldObject: sized('1', 1) },
    {
      name: 'a pod-level resize with the feature',
      subresource: 'resize',
      object: sized('1', 2, 'linux', { resources: { limits: { cpu: '2' } } }),
      oldObject: sized('1', 1),
    },
    {
      name: 'a resize of init containers without the feature',
      subresource: 'resize',
      object: sized('1', 2, 'linux', init('2')),
      oldObject: sized('1', 1, 'linux', init('1')),
      denied: /pod update requires features InPlacePodVerticalScalingInitContainers which are not available on node "linux"/,
    },
    {
      name: 'a sidecar resize counts as a container resize',
      subresource: 'resize',
      object: sized('1', 2, 'linux', init('2', 'Always')),
      oldObject: sized('1', 1, 'linux', init('1', 'Always')),
    },
  ],
  { informers },
);
