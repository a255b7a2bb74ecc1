import { Buffer } from 'node:buffer';
import { admissionTable } from 'kubenest/sdk/testing';
import { Authority } from '#cmd/certificates/issue';
import { afterAll } from 'vitest';
import { namespace, object, pod } from '../test-objects.ts';
import { MutatingAdmissionWebhook } from './mutating-admission-webhook.ts';
import { HookServer } from './test-hook-server.ts';

const patch = (...operations: object[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});
const longOperation = { op: 'add', path: '/metadata/labels', value: { seen: 'long' } };
const authority = await Authority.create('webhooks');
const pair = await authority.issue({ commonName: 'webhook', names: ['127.0.0.1'], usages: ['server'] });
const hooks = await HookServer.start(
  { ...pair, certificateAuthority: authority.pair.cert },
  {
    label: () => patch({ op: 'add', path: '/metadata/labels', value: { seen: 'x' } }),
    next: ({ request }) => patch({ op: 'add', path: '/metadata/labels/next', value: request.object.metadata.labels?.['seen'] }),
    idle: () => ({ allowed: true }),
    long: () => patch(...Array.from({ length: 10_001 }, () => longOperation)),
    missing: () => patch({ op: 'remove', path: '/none' }),
    garbage: () => ({ allowed: true, patchType: 'JSONPatch', patch: Buffer.from('{').toString('base64') }),
    merge: () => ({
      ...patch(),
      patchType: 'MergePatch',
      patch: Buffer.from('[{"op":"test","path":"/kind","value":"Pod"}]').toString('base64'),
    }),
    broken: () => 500,
  },
);
afterAll(() => hooks[Symbol.asyncDispose]());
const calling = (webhooks: Readonly<Record<string, object>>) => hooks.services('Mutating', webhooks, namespace('ns'));
const called = (index: number, webhook: string, mutated: boolean) => ({
  [`mutation.webhook.admission.k8s.io/round_0_index_${index}`]: JSON.stringify({ configuration: 'hooks', webhook, mutated }),
});
const patched = (index: number, webhook: string, operation: object) => ({
  [`patch.webhook.admission.k8s.io/round_0_index_${index}`]: JSON.stringify({
    configuration: 'hooks',
    webhook,
    patch: [operation],
    patchType: 'JSONPatch',
  }),
});

admissionTable(
  MutatingAdmissionWebhook,
  [
    {
      name: 'patches in order, each of the result before, with an audit annotation for each',
      object: pod(),
      want: { metadata: { labels: { seen: 'x', next: 'x' } } },
      annotations: {
        ...called(0, 'label.example.com', true),
        ...patched(0, 'label.example.com', { op: 'add', path: '/metadata/labels', value: { seen: 'x' } }),
        ...called(1, 'next.example.com', true),
        ...patched(1, 'next.example.com', { op: 'add', path: '/metadata/labels/next', value: 'x' }),
        ...called(2, 'idle.example.com', false),
      },
    },
    { name: 'another resource', object: object('v1', 'ConfigMap', {}, { namespace: 'ns' }), annotations: {} },
  ],
  calling({ label: {}, next: {}, idle: {} }),
);
admissionTable(
  MutatingAdmissionWebhook,
  [
    {
      name: 'a patch may have more operations than that of a client',
      object: pod(),
      want: { metadata: { labels: { seen: 'long' } } },
      annotations: {
        ...called(0, 'long.example.com', true),
        'patch.webhook.admission.k8s.io/round_0_index_0': JSON.stringify({
          configuration: 'hooks',
          webhook: 'long.example.com',
          patch: Array.from({ length: 10_001 }, () => longOperation),
          patchType: 'JSONPatch',
        }),
      },
    },
  ],
  calling({ long: {} }),
);
for (const [path, denied] of [
  ['missing', /^Internal error occurred: error in remove for path: '\/none': Unable to remove nonexistent key/],
  ['garbage', /received undecodable patch in webhook response/],
  ['merge', /unsupported patch type "MergePatch"$/],
  ['broken', /^Internal error occurred: failed calling webhook "broken.example.com": /],
] as const)
  admissionTable(MutatingAdmissionWebhook, [{ name: `a webhook that answers ${path}`, object: pod(), denied }], calling({ [path]: {} }));
admissionTable(
  MutatingAdmissionWebhook,
  [
    {
      name: 'a webhook that fails with the failure policy Ignore',
      object: pod(),
      annotations: {
        ...called(0, 'broken.example.com', false),
        'failed-open.mutation.webhook.admission.k8s.io/round_0_index_0': 'broken.example.com',
      },
    },
  ],
  calling({ broken: { failurePolicy: 'Ignore' } }),
);
