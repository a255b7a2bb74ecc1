import { expect, it } from 'vitest';
import type { DeploymentSpec, DeploymentStatus } from '#kubernetes/schema/apps_v1.gen';
import { validateDeployment, validateDeploymentStatusUpdate, validateDeploymentUpdate } from './deployment.ts';

const template = {
  metadata: { labels: { app: 'x' } },
  spec: {
    containers: [{ name: 'c', image: 'i', terminationMessagePolicy: 'File', imagePullPolicy: 'Always' }],
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    terminationGracePeriodSeconds: 30,
  },
};
const rolling = (maxSurge: number | string, maxUnavailable: number | string) => ({
  type: 'RollingUpdate',
  rollingUpdate: { maxSurge, maxUnavailable },
});
const deployment = (spec: DeploymentSpec = {}, status: DeploymentStatus = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'x' },
  spec: { replicas: 1, selector: { matchLabels: { app: 'x' } }, template, strategy: rolling(1, 1), ...spec },
  status,
});

it.each<{ name: string; spec: DeploymentSpec; errors: readonly string[] }>([
  { name: 'a deployment', spec: {}, errors: [] },
  {
    name: 'an empty selector',
    spec: { selector: {} },
    errors: ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
  },
  {
    name: 'a selector of empty parts',
    spec: { selector: { matchLabels: {}, matchExpressions: [] } },
    errors: ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
  },
  {
    name: 'a template with empty labels',
    spec: { template: { ...template, metadata: { labels: {} } } },
    errors: ['spec.template.metadata.labels: Invalid value: {}: `selector` does not match template `labels`'],
  },
  {
    name: 'another selector',
    spec: { selector: { matchLabels: { app: 'y' } } },
    errors: ['spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`'],
  },
  {
    name: 'a selector with an invalid operator',
    spec: { selector: { matchExpressions: [{ key: 'a', operator: 'X' }] } },
    errors: [
      'spec.selector.matchExpressions[0].operator: Invalid value: "X": not a valid selector operator',
      'spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"X"}]}: invalid label selector',
    ],
  },
  {
    name: 'maxSurge and maxUnavailable of zero',
    spec: { strategy: rolling(0, '0%') },
    errors: ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0'],
  },
  {
    name: 'maxUnavailable above 100 percent',
    spec: { strategy: rolling(1, '101%') },
    errors: ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
  },
  {
    name: 'an unknown strategy',
    spec: { strategy: { type: 'X' } },
    errors: ['spec.strategy: Unsupported value: {"Type":"X","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"'],
  },
  {
    name: 'a progress deadline not above minReadySeconds',
    spec: { minReadySeconds: 9, progressDeadlineSeconds: 9 },
    errors: ['spec.progressDeadlineSeconds: Invalid value: 9: must be greater than minReadySeconds'],
  },
])('$name', ({ spec, errors }) => {
  expect(validateDeployment(deployment(spec), {}).map(String)).toEqual(errors);
});

it('rejects a change of the selector', () => {
  const wider = { matchExpressions: [{ key: 'app', operator: 'Exists' }] };
  expect(validateDeploymentUpdate(deployment({ selector: wider }), deployment(), {}).map(String)).toEqual([
    'spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"Exists"}]}: field is immutable',
  ]);
});

it('rejects counts above the number of replicas, and a decreasing collision count', () => {
  const errors = validateDeploymentStatusUpdate(
    deployment({}, { replicas: 1, readyReplicas: 2, collisionCount: 1 }),
    deployment({}, { collisionCount: 2 }),
  );
  expect(errors.map(String)).toEqual([
    'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
    'status.collisionCount: Invalid value: 1: cannot be decremented',
  ]);
});
