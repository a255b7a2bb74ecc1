import type { KubeObject } from 'kubenest/sdk';
import { admissionTable, fakeInformers } from 'kubenest/sdk/testing';
import { UniqueHosts } from './unique-hosts.ts';

const ingress = (namespace: string, host?: string): KubeObject =>
  ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'web', namespace },
    ...(host !== undefined && { spec: { rules: [{ host }] } }),
  }) as KubeObject;
const informers = fakeInformers({ 'ingresses.networking.k8s.io': [ingress('shop', 'shop.example.com'), ingress('empty')] });

admissionTable(
  UniqueHosts,
  [
    { name: 'an unused host', object: ingress('blog', 'blog.example.com') },
    { name: 'no host', object: ingress('blog') },
    { name: 'a host used in the same namespace', object: ingress('shop', 'shop.example.com') },
    { name: 'a host used in another namespace', object: ingress('blog', 'shop.example.com'), denied: /belongs to namespace shop$/ },
  ],
  { informers },
);
