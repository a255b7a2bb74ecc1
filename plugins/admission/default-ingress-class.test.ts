import { admissionTable } from 'kubenest/sdk/testing';
import { object } from './test-objects.ts';
import { DefaultIngressClass } from './default-ingress-class.ts';

admissionTable(DefaultIngressClass, [
  { name: 'nothing changes without a default class', object: object('networking.k8s.io/v1', 'Ingress', { spec: {} }, { namespace: 'ns' }) },
]);
