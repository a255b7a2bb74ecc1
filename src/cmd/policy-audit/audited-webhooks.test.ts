import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { ScanRequest } from '#apiserver/admission/scan/scan-request';
import type { ObjectForms } from '#apiserver/admission/object-forms';
import { ValidatingAdmissionWebhook } from '#plugins/admission/webhook/validating-admission-webhook';
import { WebhookAdmissionConfiguration } from '#plugins/admission/webhook/webhook-configuration';
import { Authority } from '#cmd/certificates/issue';
import { fakeInformers, fakeServices } from '#sdk/testing/index';
import { startTestCluster, type TestCluster } from '#testing/index';
import type { AuditDocument } from './audit-output.ts';
import { runAudit, type RunAuditOptions } from './run-audit.ts';

interface Reviewed {
  readonly path: string;
  readonly uid: string;
  readonly operation: string;
  readonly dryRun: boolean;
  readonly userInfo: { readonly username: string };
  readonly object: KubeObject;
}

/** Responses of the webhook server by path; undefined: it fails. */
const answers: Readonly<Record<string, ((review: Reviewed) => object) | undefined>> = {
  '/owner': ({ object }) =>
    object.metadata.labels?.['owner'] === undefined ? { allowed: false, status: { message: 'no owner' } } : { allowed: true },
  '/advice': () => ({ allowed: true, warnings: ['be careful'] }),
  '/update': ({ operation }) => ({ allowed: operation === 'CREATE', status: { message: 'no updates', code: 403 } }),
  '/broken': undefined,
};
const reviews: Reviewed[] = [];

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const path = (request.url ?? '').split('?', 1)[0] as string;
  const { request: review, ...rest } = JSON.parse(body) as { request: Reviewed };
  reviews.push({ ...review, path });
  const answer = answers[path]?.(review);
  if (!answer) return void response.writeHead(500).end('broken');
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ ...rest, response: { uid: review.uid, ...answer } }));
}

let folder: string;
let server: https.Server;
let cluster: TestCluster;
let kubeconfig: string;
let caBundle: string;
beforeAll(async () => {
  const authority = await Authority.create('webhook-test');
  const pair = await authority.issue({ commonName: 'hook', names: ['127.0.0.1', 'rules.default.svc'], usages: ['server'] });
  caBundle = Buffer.from(authority.pair.cert).toString('base64');
  server = https.createServer(pair, (request, response) => void serve(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  folder = await mkdtemp(join(tmpdir(), 'kubenest-audit-'));
  cluster = await startTestCluster({
    listen: true,
    quiet: true,
    objects: [map('mine', { owner: 'a' }), map('nobodys', {}), configuration('rules', [owner, advice, onUpdate, broken, ignored])],
  });
  kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, cluster.kubeconfig());
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => void reviews.splice(0));

const map = (name: string, labels: object): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', labels } }) as KubeObject;

interface Hook {
  readonly name: string;
  readonly path: string;
  readonly operations?: readonly string[];
  readonly failurePolicy?: 'Fail' | 'Ignore';
}
const owner: Hook = { name: 'owner.acme.example', path: '/owner' };
const advice: Hook = { name: 'advice.acme.example', path: '/advice', operations: ['CREATE'] };
const onUpdate: Hook = { name: 'update.acme.example', path: '/update', operations: ['UPDATE'] };
const broken: Hook = { name: 'broken.acme.example', path: '/broken' };
const ignored: Hook = { name: 'ignored.acme.example', path: '/broken', failurePolicy: 'Ignore' };

function configuration(name: string, hooks: readonly Hook[], more: object = {}): KubeObject {
  const { port } = server.address() as AddressInfo;
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: hooks.map(({ path, operations = ['CREATE', 'UPDATE'], failurePolicy = 'Fail', ...hook }) => ({
      ...hook,
      clientConfig: { url: `https://127.0.0.1:${port}${path}`, caBundle },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations, resources: ['configmaps'] }],
      // Only the audit calls the webhooks: the test writes no object with this label.
      objectSelector: { matchExpressions: [{ key: 'unchecked', operator: 'DoesNotExist' }] },
      namespaceSelector: {},
      failurePolicy,
      sideEffects: 'NoneOnDryRun',
      admissionReviewVersions: ['v1'],
      ...more,
    })),
  } as unknown as KubeObject;
}

/** Runs an audit; verdicts are `result policy object: message`. */
async function audited(options: Partial<RunAuditOptions>): Promise<{ readonly code: number; readonly verdicts: readonly string[] }> {
  const { code, text } = await runAudit({
    kubeconfig,
    files: [],
    policies: [],
    namespaces: ['default'],
    resources: ['configmaps'],
    user: { name: 'auditor', groups: ['system:authenticated'] },
    failOn: 'fail',
    output: 'json',
    ...options,
  });
  const { reports } = JSON.parse(text) as AuditDocument;
  const verdicts = reports.flatMap(({ scope, results }) =>
    results.map(({ result, policy, message = '' }) => `${result} ${policy} ${scope?.name}: ${message.replace(/https:.*/, '')}`),
  );
  return { code, verdicts: verdicts.toSorted() };
}

it('calls the webhooks of the cluster once for each object, as dry runs, and reports their verdicts', async () => {
  const failed =
    'failed calling webhook "broken.acme.example": failed to call webhook: an error on the server ("") has prevented the request';
  const { code, verdicts } = await audited({ webhooks: true });
  expect(code).toBe(1);
  expect(verdicts.filter((one) => !one.startsWith('error'))).toEqual([
    'fail rules/owner.acme.example nobodys: admission webhook "owner.acme.example" denied the request: no owner',
    'fail rules/update.acme.example mine: admission webhook "update.acme.example" denied the request: no updates',
    'fail rules/update.acme.example nobodys: admission webhook "update.acme.example" denied the request: no updates',
    'pass rules/owner.acme.example mine: ',
    'warn rules/advice.acme.example mine: be careful',
    'warn rules/advice.acme.example nobodys: be careful',
  ]);
  expect(verdicts.filter((one) => one.startsWith('error')).map((one) => one.split(':', 1)[0])).toEqual([
    'error rules/broken.acme.example mine',
    'error rules/broken.acme.example nobodys',
    'error rules/ignored.acme.example mine',
    'error rules/ignored.acme.example nobodys',
  ]);
  expect(verdicts.join('\n')).toContain(failed.slice(0, 60));
  expect(reviews.map(({ path, operation, object }) => `${path} ${operation} ${object.metadata.name}`).toSorted()).toEqual(
    ['mine', 'nobodys']
      .flatMap((name) => [...['/owner', '/advice', '/broken', '/broken'].map((path) => `${path} CREATE ${name}`), `/update UPDATE ${name}`])
      .toSorted(),
  );
  expect(new Set(reviews.map(({ dryRun, userInfo }) => `${dryRun} ${userInfo.username}`))).toEqual(new Set(['true auditor']));
});

it('calls none by default', async () => {
  expect(await audited({})).toEqual({ code: 0, verdicts: [] });
  expect(reviews).toEqual([]);
});

it('selects webhooks by name', async () => {
  const { code, verdicts } = await audited({ webhooks: true, policies: ['rules/advice.acme.example'] });
  expect([code, verdicts.length]).toEqual([0, 2]);
  await expect(audited({ webhooks: true, policies: ['advice.acme.example'] })).rejects.toThrow('no policy or plugin is named');
});

it('evaluates a configuration that is not applied yet, and only that', async () => {
  const file = join(folder, 'webhooks.json');
  await writeFile(file, JSON.stringify(configuration('next', [owner])));
  const { verdicts } = await audited({ webhooks: true, files: [file] });
  expect(verdicts).toEqual(['fail next/owner.acme.example nobodys: admission webhook "owner.acme.example" denied the request: no owner']);
  await expect(audited({ files: [file] })).rejects.toThrow('add --webhooks');
});

it('finds the webhooks of Services', async () => {
  const { port } = server.address() as AddressInfo;
  const spec = { type: 'ExternalName', externalName: '127.0.0.1', ports: [{ port }] };
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'rules' }, spec };
  expect((await cluster.fetch('/api/v1/namespaces/default/services', { body: service })).status).toBe(201);
  const file = join(folder, 'service.json');
  const clientConfig = { service: { name: 'rules', namespace: 'default', path: '/owner', port }, caBundle };
  await writeFile(file, JSON.stringify(configuration('services', [owner], { clientConfig })));
  const { verdicts } = await audited({ webhooks: true, files: [file] });
  expect(verdicts).toEqual([
    'fail services/owner.acme.example nobodys: admission webhook "owner.acme.example" denied the request: no owner',
  ]);
});

const namespaces = [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }] as KubeObject[];

it.each(['Some', 'Unknown'])('does not call a webhook whose side effects are %s', async (sideEffects) => {
  const found = configuration('old', [owner], { sideEffects });
  const plugin = new ValidatingAdmissionWebhook(
    fakeServices({ informers: fakeInformers({ 'validatingwebhookconfigurations.admissionregistration.k8s.io': [found], namespaces }) }),
    new WebhookAdmissionConfiguration(),
  );
  const target = {
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    subresource: '',
    forms: {} as ObjectForms,
  };
  const request = new ScanRequest(target, map('web', {}), { operation: 'CREATE', user: { name: 'a', groups: [] }, pace: undefined });
  await plugin.validate(request);
  expect(request.verdicts.all).toEqual([
    { policy: 'old/owner.acme.example', result: 'skip', message: `not called, because its sideEffects are ${sideEffects}` },
  ]);
  expect(reviews).toEqual([]);
});
