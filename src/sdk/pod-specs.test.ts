import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { frozenCopy } from '#apimachinery/runtime/copy';
import { changedPodTemplate, containersOf, imagesOf, podSpecOf, podTemplateOf, workloads } from './pod-specs.ts';

const spec = { containers: [{ name: 'web', image: 'nginx' }] };
const template = { metadata: { labels: { app: 'web' } }, spec };
const object = (apiVersion: string, kind: string, members: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: 'web' },
  ...members,
});

const kinds = [
  { resource: 'pods', object: object('v1', 'Pod', { spec }), path: 'spec' },
  { resource: 'podtemplates', object: object('v1', 'PodTemplate', { template }), path: 'template.spec' },
  { resource: 'replicationcontrollers', object: object('v1', 'ReplicationController', { spec: { template } }), path: 'spec.template.spec' },
  { resource: 'daemonsets', object: object('apps/v1', 'DaemonSet', { spec: { template } }), path: 'spec.template.spec' },
  { resource: 'deployments', object: object('apps/v1', 'Deployment', { spec: { template } }), path: 'spec.template.spec' },
  { resource: 'replicasets', object: object('apps/v1', 'ReplicaSet', { spec: { template } }), path: 'spec.template.spec' },
  { resource: 'statefulsets', object: object('apps/v1', 'StatefulSet', { spec: { template } }), path: 'spec.template.spec' },
  {
    resource: 'cronjobs',
    object: object('batch/v1', 'CronJob', { spec: { jobTemplate: { spec: { template } } } }),
    path: 'spec.jobTemplate.spec.template.spec',
  },
  { resource: 'jobs', object: object('batch/v1', 'Job', { spec: { template } }), path: 'spec.template.spec' },
];

it.each(kinds)('podTemplateOf reads $resource', ({ resource, object: workload, path }) => {
  const metadata = resource === 'pods' ? workload.metadata : template.metadata;
  expect(podTemplateOf(workload)).toEqual({ metadata, spec, path });
  expect(podSpecOf(workload)).toBe(spec);
});

it('workloads matches the kinds that podTemplateOf reads, and all subresources that change containers', () => {
  expect(workloads.flatMap(({ resources }) => resources).sort()).toEqual(kinds.map(({ resource }) => resource).sort());
  expect(workloads.find(({ resources }) => resources.includes('pods'))?.subresources).toEqual(['', 'ephemeralcontainers', 'resize']);
});

it.each([
  { name: 'a kind without pods', value: object('v1', 'Service', { spec }) },
  { name: 'a kind of the same name in another group', value: object('apps.example.com/v1', 'Deployment', { spec: { template } }) },
  { name: 'a kind named like a member of every object', value: object('v1', 'constructor', { spec }) },
  { name: 'a deployment without a template', value: object('apps/v1', 'Deployment', { spec: {} }) },
  { name: 'a deployment without a spec', value: object('apps/v1', 'Deployment', {}) },
  { name: 'no object', value: undefined },
])('podSpecOf returns undefined for $name', ({ value }) => {
  expect(podSpecOf(value)).toBeUndefined();
});

it('podTemplateOf returns empty metadata for a template without metadata', () => {
  expect(podTemplateOf(object('batch/v1', 'Job', { spec: { template: { spec } } }))?.metadata).toEqual({});
});

const deployment = (replicas: number, image: string, more: object = {}): KubeObject =>
  object('apps/v1', 'Deployment', { spec: { replicas, template: { spec: { containers: [{ name: 'web', image, ...more }] } } } });

it.each([
  { name: 'a creation', oldObject: undefined, isChanged: true },
  { name: 'another image', oldObject: deployment(1, 'b'), isChanged: true },
  { name: 'other replicas', oldObject: deployment(2, 'a'), isChanged: false },
  { name: 'an empty member that the stored object has', oldObject: deployment(1, 'a', { resources: {} }), isChanged: false },
])('changedPodTemplate returns the template of a change, and nothing otherwise: $name', ({ oldObject, isChanged }) => {
  expect(changedPodTemplate({ object: deployment(1, 'a'), oldObject }) !== undefined).toBe(isChanged);
});

it.each([
  {
    name: 'an object',
    from: object('apps/v1', 'Deployment', { spec: { template: { spec: ofAllSorts() } } }),
    prefix: 'spec.template.spec.',
  },
  { name: 'a template', from: { metadata: {}, spec: ofAllSorts(), path: 'template.spec' }, prefix: 'template.spec.' },
  { name: 'a spec', from: ofAllSorts(), prefix: '' },
])('containersOf returns the containers of all sorts of $name', ({ from, prefix }) => {
  expect(containersOf(from).map(({ container, sort, path }) => [container.name, sort, path])).toEqual([
    ['setup', 'init container', `${prefix}initContainers[0]`],
    ['web', 'container', `${prefix}containers[0]`],
    ['proxy', 'container', `${prefix}containers[1]`],
    ['debug', 'ephemeral container', `${prefix}ephemeralContainers[0]`],
  ]);
});

it('containersOf returns nothing for a kind without pods', () => {
  expect(containersOf(object('v1', 'Service', { spec }))).toEqual([]);
});

function ofAllSorts(): object {
  return {
    initContainers: [{ name: 'setup' }],
    containers: [{ name: 'web' }, { name: 'proxy' }],
    ephemeralContainers: [{ name: 'debug' }],
  };
}

describe('the parts of frozen objects, which all rules of a request share', () => {
  it('a template, its containers and its images are read once, and a caller may change the lists', () => {
    const pod = frozenCopy(object('v1', 'Pod', { spec }));
    const found = podTemplateOf(pod)!;
    expect(podTemplateOf(pod)).toBe(found);
    expect(() => Object.assign(found, { path: 'other' })).toThrow(TypeError);
    containersOf(found).pop();
    expect(containersOf(found)[0]).toBe(containersOf(found)[0]);
    imagesOf(found).pop();
    const [image] = imagesOf(found);
    expect(() => image?.replace('other')).toThrow(TypeError);
    expect(imagesOf(found).map(({ path }) => path)).toEqual(['spec.containers[0].image']);
  });

  it('a template is compared with that of each older object', () => {
    const current = frozenCopy(deployment(1, 'nginx'));
    const [same, different] = [frozenCopy(deployment(2, 'nginx')), frozenCopy(deployment(1, 'httpd'))];
    for (const [oldObject, isChanged] of [
      [same, false],
      [different, true],
      [same, false],
      [undefined, true],
      [deployment(1, 'httpd'), true],
    ] as const)
      expect(changedPodTemplate({ object: current, oldObject }) !== undefined).toBe(isChanged);
  });
});
