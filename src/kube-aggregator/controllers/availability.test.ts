import { expect, it } from 'vitest';
import { type EndpointSliceObject, passedAvailability, type ServiceObject, serviceProblem, withAvailability } from './availability.ts';

const reference = { namespace: 'n', name: 's', port: 443 };
const service = (spec: NonNullable<ServiceObject['spec']>): ServiceObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's', namespace: 'n' },
  spec,
});
const slice = (more: object): EndpointSliceObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 's-1' },
  ...more,
});
const https = { name: 'https', port: 443 };

it.each([
  { name: 'no service', service: undefined, slices: [], want: ['ServiceNotFound', 'service/s in "n" is not present'] },
  {
    name: 'another port',
    service: service({ ports: [{ port: 80 }] }),
    slices: [],
    want: ['ServicePortError', 'service/s in "n" is not listening on port 443'],
  },
  {
    name: 'no endpoints',
    service: service({ type: 'ClusterIP', ports: [https] }),
    slices: [],
    want: ['EndpointsNotFound', 'cannot find endpointslices for service/s in "n"'],
  },
  {
    name: 'endpoints without a ready address',
    service: service({ ports: [https] }),
    slices: [slice({ endpoints: [{ conditions: { ready: false } }], ports: [https] })],
    want: ['MissingEndpoints', 'endpointslices for service/s in "n" have no addresses with port name "https"'],
  },
  {
    name: 'endpoints without the port',
    service: service({ ports: [https] }),
    slices: [slice({ endpoints: [{}], ports: [{ name: 'http', port: 80 }] })],
    want: ['MissingEndpoints', 'endpointslices for service/s in "n" have no addresses with port name "https"'],
  },
  { name: 'an endpoint', service: service({ ports: [https] }), slices: [slice({ endpoints: [{}], ports: [https] })], want: undefined },
  {
    name: 'a port without a name',
    service: service({ ports: [{ port: 443 }] }),
    slices: [slice({ endpoints: [{ conditions: { ready: true } }], ports: [{ name: '', port: 8443 }] })],
    want: undefined,
  },
  { name: 'a service of type ExternalName', service: service({ type: 'ExternalName' }), slices: [], want: undefined },
])('reports the state of the cluster: $name', ({ service: present, slices, want }) => {
  const problem = serviceProblem(reference, present, slices);
  expect(problem && [problem.reason, problem.message]).toEqual(want);
  if (problem) expect(problem.status).toBe('False');
});

const at = (status: string, reason: string, lastTransitionTime: string) => ({
  type: 'Available',
  status,
  reason,
  message: passedAvailability.message,
  lastTransitionTime,
});

it.each([
  { name: 'it is absent', conditions: undefined, want: [at('True', 'Passed', 'now')] },
  { name: 'it is up to date', conditions: [at('True', 'Passed', 'before')], want: undefined },
  { name: 'its status changes', conditions: [at('False', 'Passed', 'before')], want: [at('True', 'Passed', 'now')] },
  { name: 'its reason changes', conditions: [at('True', 'Local', 'before')], want: [at('True', 'Passed', 'before')] },
  {
    name: 'there are other conditions',
    conditions: [{ type: 'Other', status: 'True' }],
    want: [{ type: 'Other', status: 'True' }, at('True', 'Passed', 'now')],
  },
])('sets the condition if $name', ({ conditions, want }) => {
  expect(withAvailability(conditions && { conditions }, passedAvailability, 'now')?.conditions).toEqual(want);
});
