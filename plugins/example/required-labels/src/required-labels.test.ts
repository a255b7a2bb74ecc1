import type { KubeObject } from 'kubenest/sdk';
import { admissionTable } from 'kubenest/sdk/testing';
import { RequiredLabels } from './required-labels.ts';

const pod = (labels?: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', ...(labels && { labels }) },
});
const service: KubeObject = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'shop' } };

admissionTable(
  RequiredLabels,
  [
    { name: 'a pod with all required labels', object: pod({ team: 'a', tier: 'b' }) },
    { name: 'a pod with some required labels', object: pod({ team: 'a' }), denied: /^pods "web" is forbidden: missing labels: tier$/ },
    { name: 'a pod without labels', object: pod(), denied: /missing labels: team, tier$/ },
    { name: 'an update of a pod without labels', object: pod(), oldObject: pod() },
    { name: 'a service', object: service },
  ],
  { configuration: { labels: ['team', 'tier'] } },
);
