import type { KubeObject } from 'kubenest/sdk';
import { admissionTable } from 'kubenest/sdk/testing';
import { Authority } from '#cmd/certificates/issue';
import { afterAll, expect, it } from 'vitest';
import { namespace, object, pod } from '../test-objects.ts';
import { HookServer } from './test-hook-server.ts';
import { ValidatingAdmissionWebhook } from './validating-admission-webhook.ts';

const allowed = { allowed: true };
const authority = await Authority.create('webhooks');
const pair = await authority.issue({ commonName: 'webhook', names: ['127.0.0.1'], usages: ['server'] });
const hooks = await HookServer.start(
  { ...pair, certificateAuthority: authority.pair.cert },
  {
    allow: () => ({ ...allowed, warnings: ['careful'], auditAnnotations: { key: 'value' } }),
    names: ({ request }) =>
      request.object.metadata.name === 'bad' ? { allowed: false, status: { message: 'bad name', code: 422 } } : allowed,
    mute: () => ({ allowed: false }),
    broken: () => 500,
  },
);
afterAll(() => hooks[Symbol.asyncDispose]());

const calling = (webhooks: Readonly<Record<string, object>>) => hooks.services('Validating', webhooks, namespace('ns', { team: 'a' }));
const bad: KubeObject = pod({}, { name: 'bad' });

admissionTable(
  ValidatingAdmissionWebhook,
  [
    {
      name: 'warnings and annotations of a webhook that allows',
      object: pod(),
      warnings: ['careful'],
      annotations: { 'allow.example.com/key': 'value' },
    },
    { name: 'another resource', object: object('v1', 'ConfigMap', {}, { namespace: 'ns' }) },
    { name: 'a deletion', oldObject: pod(), operation: 'DELETE' },
    { name: 'a subresource', object: pod(), oldObject: pod(), subresource: 'status' },
  ],
  calling({ allow: {} }),
);
admissionTable(
  ValidatingAdmissionWebhook,
  [
    { name: 'an object that the webhook allows', object: pod() },
    { name: 'an object that it denies', object: bad, denied: /^admission webhook "names.example.com" denied the request: bad name$/ },
  ],
  calling({ names: {} }),
);
admissionTable(
  ValidatingAdmissionWebhook,
  [
    {
      name: 'a denial without a message',
      object: pod(),
      denied: /^admission webhook "mute.example.com" denied the request without explanation$/,
    },
  ],
  calling({ mute: {} }),
);
admissionTable(
  ValidatingAdmissionWebhook,
  [{ name: 'a webhook that fails', object: pod(), denied: /^Internal error occurred: failed calling webhook "broken.example.com": / }],
  calling({ broken: {} }),
);
admissionTable(
  ValidatingAdmissionWebhook,
  [
    {
      name: 'a webhook that fails with the failure policy Ignore',
      object: pod(),
      annotations: { 'failed-open.validating.webhook.admission.k8s.io/round_0_index_0': 'broken.example.com' },
    },
  ],
  calling({ broken: { failurePolicy: 'Ignore' } }),
);
for (const [name, more] of Object.entries({
  'labels of the namespace that do not match': { namespaceSelector: { matchLabels: { team: 'b' } } },
  'labels of the object that do not match': { objectSelector: { matchLabels: { a: 'b' } } },
  'a match condition that is false': { matchConditions: [{ name: 'c', expression: "object.metadata.name != 'x'" }] },
}))
  admissionTable(ValidatingAdmissionWebhook, [{ name, object: pod() }], calling({ mute: more }));

it('sends the request as an AdmissionReview', async () => {
  const [review] = hooks.asked;
  expect(review).toMatchObject({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      namespace: 'ns',
      name: 'x',
      operation: 'CREATE',
      userInfo: { username: 'jane', groups: ['system:authenticated'] },
      object: { metadata: { name: 'x' } },
      oldObject: null,
      dryRun: false,
    },
  });
});
