import { admissionTable, fakeInformers } from 'kubenest/sdk/testing';
import { LimitRanger } from './limit-ranger.ts';
import { object, pod } from './test-objects.ts';

const limits = [
  {
    type: 'Container',
    default: { cpu: '500m' },
    defaultRequest: { cpu: '100m', memory: '64Mi' },
    max: { memory: '1Gi' },
    min: { cpu: '50m' },
    maxLimitRequestRatio: { cpu: '5' },
  },
  { type: 'Pod', max: { memory: '1536Mi' } },
  { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '10Gi' } },
];
const informers = fakeInformers({ limitranges: [object('v1', 'LimitRange', { spec: { limits } }, { namespace: 'ns' })] });
const container = (requests?: object, maxima?: object, name = 'main') => ({ name, resources: { requests, limits: maxima } });
const fitting = container({ cpu: '100m', memory: '64Mi' }, { cpu: '500m', memory: '1Gi' });
const claim = (storage: string) =>
  object('v1', 'PersistentVolumeClaim', { spec: { resources: { requests: { storage } } } }, { namespace: 'ns' });

admissionTable(
  LimitRanger,
  [
    {
      name: 'defaults are set and listed in the annotation',
      object: pod({
        containers: [container({}, { memory: '1Gi' })],
        initContainers: [container({ memory: '1Mi' }, { memory: '1Gi' }, 'init')],
      }),
      want: {
        metadata: {
          name: 'x',
          namespace: 'ns',
          annotations: {
            'kubernetes.io/limit-ranger':
              'LimitRanger plugin set: cpu, memory request for container main; cpu limit for container main; cpu request for init container init; cpu limit for init container init',
          },
        },
        spec: {
          containers: [container({ cpu: '100m', memory: '64Mi' }, { memory: '1Gi', cpu: '500m' })],
          initContainers: [container({ memory: '1Mi', cpu: '100m' }, { memory: '1Gi', cpu: '500m' }, 'init')],
        },
      },
    },
    { name: 'explicit values stay', object: pod({ containers: [fitting] }) },
    {
      name: 'a missing limit for a maximum',
      object: pod(),
      denied: /^pods "x" is forbidden: \[maximum memory usage per Container is 1Gi. {2}No limit is specified, maximum memory usage per Pod/,
    },
    {
      name: 'a limit beyond the maximum',
      object: pod({ containers: [container({}, { memory: '1280Mi' })] }),
      denied: /maximum memory usage per Container is 1Gi, but limit is 1280Mi$/,
    },
    {
      name: 'a request below the minimum, and its ratio',
      object: pod({ containers: [container({ cpu: '10m' }, { memory: '1Gi' })] }),
      denied:
        /\[minimum cpu usage per Container is 50m, but request is 10m, cpu max limit to request ratio per Container is 5, but provided ratio is 50.000000\]/,
    },
    {
      name: "two containers above the pod's maximum together",
      object: pod({ containers: [fitting, { ...fitting, name: 'other' }] }),
      denied: /maximum memory usage per Pod is 1536Mi, but limit is 2Gi/,
    },
    {
      name: 'an init container does not add to the sum',
      object: pod({ containers: [fitting], initContainers: [{ ...fitting, name: 'init' }] }),
    },
    {
      name: 'a sidecar adds to the sum',
      object: pod({ containers: [fitting], initContainers: [{ ...fitting, name: 'init', restartPolicy: 'Always' }] }),
      denied: /usage per Pod/,
    },
    { name: 'an update of a pod is not checked', object: pod(), oldObject: pod() },
    { name: 'a resize is checked', subresource: 'resize', object: pod(), oldObject: pod(), denied: /No limit is specified/ },
    {
      name: 'an object with a deletionTimestamp is not checked',
      subresource: 'resize',
      object: pod(),
      oldObject: pod({}, { deletionTimestamp: '2020-01-01T00:00:00Z' }),
    },
    { name: 'a claim within the limits', object: claim('2Gi') },
    {
      name: 'a claim that is too small',
      object: claim('1Mi'),
      denied: /minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi/,
    },
    {
      name: 'a claim that grows beyond the maximum',
      object: claim('11Gi'),
      oldObject: claim('1Gi'),
      denied: /is 10Gi, but request is 11Gi/,
    },
  ],
  { informers },
);
