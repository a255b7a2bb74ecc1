import { admissionTable, fakeInformers } from 'kubenest/sdk/testing';
import { PodPreset } from './pod-preset.ts';
import { object, pod } from './test-objects.ts';

const preset = (name: string, spec: object, namespace = 'ns') =>
  object('settings.k8s.io/v1alpha1', 'PodPreset', { spec }, { name, namespace, resourceVersion: '7' });
const database = preset('database', {
  selector: { matchLabels: { role: 'frontend' } },
  env: [{ name: 'DB_PORT', value: '6379' }],
  envFrom: [{ configMapRef: { name: 'etcd' } }],
  volumes: [{ name: 'cache', emptyDir: {} }],
  volumeMounts: [{ name: 'cache', mountPath: '/cache' }],
});
const elsewhere = preset('elsewhere', { selector: {}, env: [{ name: 'A', value: 'b' }] }, 'other');
const options = { informers: fakeInformers({ 'podpresets.settings.k8s.io': [database, elsewhere] }) };
const main = { name: 'main', image: 'image' };
const given = {
  env: [{ name: 'DB_PORT', value: '6379' }],
  envFrom: [{ configMapRef: { name: 'etcd' } }],
  volumeMounts: [{ name: 'cache', mountPath: '/cache' }],
};
const applied = { 'podpreset.admission.kubernetes.io/podpreset-database': '7' };
const frontend = (container: object, spec: Record<string, unknown> = {}, annotations: Record<string, string> = {}) =>
  pod({ containers: [{ ...main, ...container }], ...spec }, { labels: { role: 'frontend' }, annotations });
const metadata = (annotations: object) => ({ name: 'x', namespace: 'ns', labels: { role: 'frontend' }, annotations });
const excluded = { 'podpreset.admission.kubernetes.io/exclude': 'true' };

admissionTable(
  PodPreset,
  [
    { name: 'a pod without a matching preset', object: pod() },
    {
      name: 'containers of all kinds, and volumes',
      object: frontend({}, { initContainers: [main] }),
      want: {
        metadata: metadata(applied),
        spec: { containers: [{ ...main, ...given }], initContainers: [{ ...main, ...given }], volumes: [{ name: 'cache', emptyDir: {} }] },
      },
    },
    {
      name: 'equal items stay, and others are appended',
      object: frontend({ env: [{ name: 'OWN', value: '1' }, given.env[0]] }, { volumes: [{ name: 'cache', emptyDir: {} }] }),
      want: {
        metadata: metadata(applied),
        spec: {
          containers: [{ ...main, ...given, env: [{ name: 'OWN', value: '1' }, given.env[0]] }],
          volumes: [{ name: 'cache', emptyDir: {} }],
        },
      },
    },
    { name: 'no preset is applied if a variable conflicts', object: frontend({ env: [{ name: 'DB_PORT', value: '1' }] }) },
    {
      name: 'no preset is applied if an environment source conflicts',
      object: frontend({ envFrom: [{ configMapRef: { name: 'etcd', optional: true } }] }),
    },
    {
      name: 'no preset is applied if a volume conflicts',
      object: frontend({}, { volumes: [{ name: 'cache', hostPath: { path: '/' } }] }),
    },
    {
      name: 'no preset is applied if a mount path conflicts',
      object: frontend({ volumeMounts: [{ name: 'b', mountPath: '/cache' }] }),
    },
    { name: 'a pod that opts out', object: frontend({}, {}, excluded) },
    { name: 'a mirror pod', object: frontend({}, {}, { 'kubernetes.io/config.mirror': 'x' }) },
    { name: 'an update', object: frontend({}), oldObject: frontend({}) },
  ],
  options,
);
