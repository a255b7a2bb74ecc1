import type { KubeObject } from 'kubenest/sdk';
import { reconcileTable } from 'kubenest/sdk/testing';
import { partialObject } from '../common/testing/partial-object.ts';
import { EndpointsController } from './endpoints-controller.ts';

const labels = { app: 'web' };
const service = (spec: object = {}, metadata: object = {}): KubeObject =>
  partialObject({
    metadata: { namespace: 'ns', name: 'web', ...metadata },
    spec: { clusterIP: '10.0.0.1', selector: labels, ports: [{ name: 'http', port: 80, targetPort: 8080 }], ...spec },
  });
const pod = (name: string, podIP: string, isReady: boolean, rest: object = {}): KubeObject =>
  partialObject({
    metadata: { namespace: 'ns', name, uid: name, labels },
    spec: { nodeName: 'n', containers: [{ name: 'c' }], ...rest },
    status: { phase: 'Running', podIP, podIPs: [{ ip: podIP }], conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  });
const managed = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' };
const endpoints = (subsets: object[], metadata: object = { labels: managed }): KubeObject =>
  partialObject({ apiVersion: 'v1', kind: 'Endpoints', metadata: { namespace: 'ns', name: 'web', ...metadata }, subsets });
const address = (name: string, ip: string): object => ({ ip, nodeName: 'n', targetRef: { kind: 'Pod', namespace: 'ns', name, uid: name } });
const ports = [{ name: 'http', port: 8080, protocol: 'TCP' }];
const ready = { addresses: [address('a', '10.1.0.1')], ports };

reconcileTable(EndpointsController, [
  {
    name: 'creates endpoints of ready and other pods',
    objects: { services: [service()], pods: [pod('a', '10.1.0.1', true), pod('b', '10.1.0.2', false)] },
    request: 'ns/web',
    writes: ['create endpoints ns/web'],
    want: {
      endpoints: { 'ns/web': { metadata: { labels: managed }, subsets: [{ ...ready, notReadyAddresses: [address('b', '10.1.0.2')] }] } },
    },
  },
  {
    name: 'publishes pods that are not ready as ready on request',
    objects: { services: [service({ publishNotReadyAddresses: true })], pods: [pod('a', '10.1.0.1', false)] },
    request: 'ns/web',
    writes: ['create endpoints ns/web'],
    want: { endpoints: { 'ns/web': { subsets: [ready] } } },
  },
  {
    name: 'leaves endpoints that are right alone',
    objects: { services: [service()], pods: [pod('a', '10.1.0.1', true)], endpoints: [endpoints([ready])] },
    request: 'ns/web',
  },
  {
    name: 'removes the addresses of pods that are gone',
    objects: { services: [service()], endpoints: [endpoints([ready])] },
    request: 'ns/web',
    writes: ['update endpoints ns/web'],
    want: { endpoints: { 'ns/web': { subsets: [] } } },
  },
  {
    name: 'labels the endpoints of a headless service, with the labels of the service',
    objects: { services: [service({ clusterIP: 'None' }, { labels: { tier: 'front' } })] },
    request: 'ns/web',
    writes: ['create endpoints ns/web'],
    want: { endpoints: { 'ns/web': { metadata: { labels: { ...managed, tier: 'front', 'service.kubernetes.io/headless': '' } } } } },
  },
  {
    name: 'truncates more than a thousand addresses',
    objects: { services: [service()], pods: Array.from({ length: 1_001 }, (_, at) => pod(`p${at}`, `10.1.${at >> 8}.${at & 255}`, true)) },
    request: 'ns/web',
    writes: ['create endpoints ns/web'],
    want: { endpoints: { 'ns/web': { metadata: { annotations: { 'endpoints.kubernetes.io/over-capacity': 'truncated' } } } } },
  },
  { name: 'ignores a service without a selector', objects: { services: [service({ selector: undefined })] }, request: 'ns/web' },
  { name: 'ignores an external name', objects: { services: [service({ type: 'ExternalName' })] }, request: 'ns/web' },
  {
    name: 'deletes the endpoints of a service that is gone',
    objects: { endpoints: [endpoints([ready])] },
    request: 'ns/web',
    writes: ['delete endpoints ns/web'],
    want: { endpoints: { 'ns/web': undefined } },
  },
]);
