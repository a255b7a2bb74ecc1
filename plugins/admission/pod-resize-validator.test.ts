import { admissionTable } from 'kubenest/sdk/testing';
import { PodResizeValidator } from './pod-resize-validator.ts';
import { informers, sized } from './test-nodes.ts';

const resize = { subresource: 'resize', oldObject: sized('1', 1) };
admissionTable(
  PodResizeValidator,
  [
    { name: 'a resize that fits', ...resize, object: sized('2', 2) },
    {
      name: 'a resize that does not fit',
      ...resize,
      object: sized('2500m', 2),
      denied: /node didn't have enough allocatable resources: cpu, requested: 2500, allocatable: 2000$/,
    },
    { name: 'an update without a change of resources', ...resize, object: sized('3', 1) },
    { name: 'a pod without a node', ...resize, object: sized('3', 2, '') },
    {
      name: 'a node with another operating system',
      ...resize,
      object: sized('1', 2, 'windows'),
      denied: /only supported on linux nodes, node "windows" is "windows"/,
    },
    { name: 'a missing node', ...resize, object: sized('1', 2, 'gone'), denied: /node "gone" not found/ },
  ],
  { informers },
);
