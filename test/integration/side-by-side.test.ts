import { expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/start-test-cluster';

const container = { name: 'c', image: 'example.com/c:1', imagePullPolicy: 'IfNotPresent', terminationMessagePolicy: 'File' };
const template = (spec: object): object => ({ metadata: { labels: { app: 'a' } }, spec });

async function create(cluster: TestCluster, path: string, body: object): Promise<string> {
  const response = await cluster.fetch(`${path}?dryRun=All`, { body });
  const text = await response.text();
  if (response.status === 201) return 'created';
  const message = text.startsWith('{') ? (JSON.parse(text) as { message?: string }).message : text;
  return `${response.status} ${message}`;
}

const pods = '/api/v1/namespaces/default/pods';
const metadata = { name: 'a' };
const privileged = { containers: [{ ...container, securityContext: { privileged: true } }] };
const autoscaler = {
  metadata,
  spec: {
    minReplicas: 0,
    maxReplicas: 2,
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
    metrics: [{ type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value', value: '1' } } }],
  },
};
const deployment = { metadata, spec: { selector: { matchLabels: { app: 'a' } }, template: template(privileged) } };
const hostProcess = {
  containers: [container],
  hostNetwork: true,
  os: { name: 'windows' },
  securityContext: { windowsOptions: { hostProcess: true } },
};
const noSource = { containers: [{ ...container, env: [{ name: 'e', valueFrom: {} }] }] };
const tolerating = { containers: [container], tolerations: [{ key: 'k', operator: 'Gt', value: '1' }] };

/** Requests that a server with the second value of the flag accepts, or rejects with another reason. */
const cases = [
  {
    flag: ['--allow-privileged=false', '--allow-privileged=true'],
    name: 'privileged containers',
    path: pods,
    body: { metadata, spec: privileged },
    answers: [/^422 .*privileged: Forbidden: disallowed by cluster policy/, /^created$/],
  },
  {
    flag: ['--allow-privileged=false', '--allow-privileged=true'],
    name: 'privileged containers of templates',
    path: '/apis/apps/v1/namespaces/default/deployments',
    body: deployment,
    answers: [/^422 .*privileged: Forbidden: disallowed by cluster policy/, /^created$/],
  },
  {
    flag: ['--allow-privileged=false', '--allow-privileged=true'],
    name: 'host processes',
    path: pods,
    body: { metadata, spec: hostProcess },
    answers: [/^422 .*hostProcess containers are disallowed by cluster policy/, /^created$/],
  },
  {
    flag: ['--feature-gates=HPAScaleToZero=false', '--feature-gates=HPAScaleToZero=true'],
    name: 'autoscaling to zero',
    path: '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
    body: autoscaler,
    answers: [/^422 .*must be greater than or equal to 1/, /^created$/],
  },
  {
    flag: ['--feature-gates=TaintTolerationComparisonOperators=false', '--feature-gates=TaintTolerationComparisonOperators=true'],
    name: 'comparison operators of tolerations',
    path: pods,
    body: { metadata, spec: tolerating },
    answers: [/^422 .*operator: Unsupported value: "Gt"/, /^created$/],
  },
  {
    flag: ['--feature-gates=EnvFiles=false', '--feature-gates=EnvFiles=true'],
    name: 'the sources of variables',
    path: pods,
    body: { metadata, spec: noSource },
    answers: [/^422 .*`configMapKeyRef` or `secretKeyRef`$/, /^422 .*`secretKeyRef` or `fileKeyRef`$/],
  },
  {
    flag: ['--disable-admission-plugins=LimitRanger', '--disable-admission-plugins=NamespaceLifecycle'],
    name: 'admission plugins',
    path: '/api/v1/namespaces/missing/configmaps',
    body: { metadata },
    answers: [/^404 namespaces "missing" not found$/, /^created$/],
  },
  {
    flag: ['--runtime-config=autoscaling/v1=false', '--runtime-config=autoscaling/v2=false'],
    name: 'served versions',
    path: '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers',
    body: { metadata, spec: { minReplicas: 1, maxReplicas: 2, scaleTargetRef: autoscaler.spec.scaleTargetRef } },
    answers: [/^404 /, /^created$/],
  },
];

it.each(cases)(
  '$name: each of two servers in one process uses its own value of the flag',
  async ({ flag: [first = '', second = ''], path, body, answers: [ofFirst, ofSecond] }) => {
    await using one = await startTestCluster({ flags: [first] });
    await using other = await startTestCluster({ flags: [second] });
    for (const [cluster, answer] of [
      [one, ofFirst],
      [other, ofSecond],
      [one, ofFirst],
    ] as const)
      expect(await create(cluster, path, body)).toMatch(answer ?? /never/);
  },
);
