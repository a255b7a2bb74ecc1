import { newDefinition } from '#apiextensions-apiserver/testing/new-definition';
import { AdmissionPlugin, type Attributes } from 'kubenest/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import type { KubeObject } from '#apimachinery/meta/types';
import { startWebhook, type WebhookServer } from './webhook-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const widgets = '/apis/example.com/v1/namespaces/default/widgets';

/** Changes of each member of an identity, as an admission plugin might make. */
const changes: Readonly<Record<string, (object: KubeObject) => void>> = {
  kind: (object) => void (object.kind = 'Secret'),
  apiVersion: (object) => void (object.apiVersion = 'v2'),
  'metadata.name': ({ metadata }) => void (metadata.name = 'other'),
  'metadata.namespace': ({ metadata }) => void (metadata.namespace = 'kube-system'),
  'metadata.uid': ({ metadata }) => void (metadata.uid = '7b0a5d9e-0000-4000-8000-000000000000'),
};

/** Changes the identity of an object according to its annotation, during mutation or during validation. */
@AdmissionPlugin({
  name: 'Renamer',
  match: [{ groups: ['', 'example.com'], resources: ['configmaps', 'widgets'], operations: ['CREATE', 'UPDATE'] }],
})
class Renamer {
  admit(attributes: Attributes<KubeObject>): void {
    this.#change(attributes, 'admit');
    const { metadata } = attributes.object;
    const version = metadata.annotations?.['version'];
    if (version !== undefined) metadata.resourceVersion = version;
  }
  validate(attributes: Attributes<KubeObject>): void {
    this.#change(attributes, 'validate');
  }
  #change({ object }: Attributes<KubeObject>, when: string): void {
    const { annotations } = object.metadata;
    if (annotations?.['when'] === when) changes[annotations['change'] as string]?.(object);
  }
}

let cluster: TestCluster;
let webhook: WebhookServer;
beforeAll(async () => {
  const asBase64 = (patch: object[]): string => Buffer.from(JSON.stringify(patch)).toString('base64');
  webhook = await startWebhook((review) => {
    const { uid, object } = review['request'] as { readonly uid: string; readonly object: KubeObject };
    const { annotations } = object.metadata;
    const changed = structuredClone(object);
    if (annotations?.['when'] === 'webhook') changes[annotations['change'] as string]?.(changed);
    const patch = ['/kind', '/apiVersion', '/metadata/name', '/metadata/namespace', '/metadata/uid'].map((path) => ({
      op: 'add',
      path,
      value:
        path
          .split('/')
          .slice(1)
          .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], changed) ?? '',
    }));
    return {
      apiVersion: review['apiVersion'],
      kind: 'AdmissionReview',
      response: { uid, allowed: true, patchType: 'JSONPatch', patch: asBase64(patch) },
    };
  });
  cluster = await startTestCluster({
    plugins: [Renamer],
    objects: [
      newDefinition({ kind: 'Widget' }),
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingWebhookConfiguration',
        metadata: { name: 'renamer' },
        webhooks: [
          {
            name: 'renamer.example.com',
            clientConfig: {
              url: `https://localhost:${webhook.port}/`,
              caBundle: Buffer.from(webhook.certificateAuthority).toString('base64'),
            },
            rules: [
              {
                apiGroups: ['', 'example.com'],
                apiVersions: ['v1'],
                operations: ['CREATE', 'UPDATE'],
                resources: ['configmaps', 'widgets'],
              },
            ],
            objectSelector: { matchLabels: { webhook: 'yes' } },
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      },
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingAdmissionPolicy',
        metadata: { name: 'renamer' },
        spec: {
          matchConstraints: {
            resourceRules: [
              {
                apiGroups: ['', 'example.com'],
                apiVersions: ['v1'],
                operations: ['CREATE', 'UPDATE'],
                resources: ['configmaps', 'widgets'],
              },
            ],
            objectSelector: { matchLabels: { policy: 'yes' } },
          },
          failurePolicy: 'Fail',
          reinvocationPolicy: 'Never',
          mutations: [
            {
              patchType: 'JSONPatch',
              jsonPatch: {
                expression:
                  "[JSONPatch{op: 'add', path: object.metadata.annotations.change == 'kind' ? '/kind' : object.metadata.annotations.change == 'apiVersion' ? '/apiVersion' : '/' + object.metadata.annotations.change.replace('.', '/'), value: object.metadata.annotations.change == 'kind' ? 'Secret' : object.metadata.annotations.change == 'metadata.namespace' ? 'kube-system' : 'other'}]",
              },
            },
          ],
        },
      },
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingAdmissionPolicyBinding',
        metadata: { name: 'renamer' },
        spec: { policyName: 'renamer' },
      },
    ],
  });
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  webhook[Symbol.dispose]();
});

let count = 0;
const nameOf = (): string => `a-${++count}`;
const marks = (who: string, change: string) => ({
  annotations: { when: who, change },
  labels: { [who === 'webhook' || who === 'policy' ? who : 'plugin']: 'yes' },
});

async function identities(path: string): Promise<string[]> {
  const response = await cluster.fetch(path);
  const { items } = (await response.json()) as { readonly items: readonly KubeObject[] };
  return items.map(({ kind, apiVersion, metadata }) => [kind, apiVersion, metadata.namespace, metadata.name, metadata.uid].join());
}

describe.each([
  ['a built-in kind', maps],
  ['a custom resource', widgets],
])('%s', (_, path) => {
  const kind = path === widgets ? { apiVersion: 'example.com/v1', kind: 'Widget' } : { apiVersion: 'v1', kind: 'ConfigMap' };
  describe.each(['admit', 'validate', 'webhook', 'policy'])('with an identity changed by %s', (who) => {
    afterEach(() => cluster.fetch(`${path}/other`, { method: 'DELETE' }));

    it.each(Object.keys(changes))('is not stored with another %s', async (change) => {
      const before = await identities(path);
      const created = await cluster.fetch(path, { body: { ...kind, metadata: { name: nameOf(), ...marks(who, change) } } });
      const answer = (await created.json()) as { readonly message?: string; readonly metadata: KubeObject['metadata'] };
      const after = await identities(path);
      // The server sets the uid itself. A name set by mutating admission is the object's name, as in kube-apiserver.
      const isRenamed = change === 'metadata.name' && who !== 'validate';
      const stored = isRenamed ? 'other' : `a-${count}`;
      if (created.status === 201 && (isRenamed || change === 'metadata.uid'))
        expect(after.filter((one) => !before.includes(one))).toEqual([
          expect.stringMatching(new RegExp(`default,${stored},.{8}-(?!0000)`)),
        ]);
      else expect([after, answer.message]).toEqual([before, expect.stringMatching(/\S/)]);
    });

    it.each(Object.keys(changes))('is not updated to another %s', async (change) => {
      const name = nameOf();
      expect((await cluster.fetch(path, { body: { ...kind, metadata: { name } } })).status).toBe(201);
      const before = await identities(path);
      const metadata = { name, ...marks(who, change) };
      const updated = await cluster.fetch(`${path}/${name}`, {
        method: 'PUT',
        body: { ...kind, metadata: path === widgets ? { ...metadata, resourceVersion: await versionOf(`${path}/${name}`) } : metadata },
      });
      expect([await identities(path), updated.status >= 400 || updated.status === 200]).toEqual([before, true]);
    });
  });
});

async function versionOf(path: string): Promise<string | undefined> {
  const object = (await (await cluster.fetch(path)).json()) as KubeObject;
  return object.metadata.resourceVersion;
}

it('a dry run is rejected like the write', async () => {
  const response = await cluster.fetch(`${maps}?dryRun=All`, {
    body: { metadata: { name: 'marked', ...marks('validate', 'metadata.uid') } },
  });
  expect(response.status).toBe(500);
});

// Recorded from kube-apiserver.
it.each([
  ['5', '', 201, undefined],
  ['abc', '', 500, 'strconv.ParseUint: parsing "abc": invalid syntax'],
  ['abc', '&dryRun=All', 500, 'strconv.ParseUint: parsing "abc": invalid syntax'],
])('an apply creates an object for which admission sets the resourceVersion %s%s: %i', async (version, query, code, message) => {
  const name = nameOf();
  const response = await cluster.fetch(`${maps}/${name}?fieldManager=m${query}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, annotations: { version } } },
  });
  const answer = (await response.json()) as { readonly message?: string };
  expect([response.status, answer.message]).toEqual([code, message]);
});
