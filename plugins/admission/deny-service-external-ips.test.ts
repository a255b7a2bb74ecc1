import type { KubeObject } from 'kubenest/sdk';
import { admissionTable } from 'kubenest/sdk/testing';
import { object } from './test-objects.ts';
import { DenyServiceExternalIPs } from './deny-service-external-ips.ts';

const service = (...externalIPs: string[]): KubeObject => object('v1', 'Service', { spec: { externalIPs } }, { namespace: 'ns' });

admissionTable(DenyServiceExternalIPs, [
  { name: 'create without externalIPs', object: service() },
  { name: 'create with externalIPs', object: service('1.1.1.1'), denied: /Use of external IPs is denied by admission control/ },
  { name: 'reordering on update', object: service('1.1.1.1', '2.2.2.2'), oldObject: service('2.2.2.2', '1.1.1.1') },
  { name: 'adding one on update', object: service('1.1.1.1', '3.3.3.3'), oldObject: service('1.1.1.1'), denied: /denied/ },
]);
