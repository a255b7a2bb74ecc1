import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { KubeObject } from 'kubenest/sdk';
import { type AdmissionRow, admissionTable, fakeServices } from 'kubenest/sdk/testing';
import { afterAll, expect, it } from 'vitest';
import { ImagePolicyConfiguration, ImagePolicyWebhook } from './image-policy-webhook.ts';

interface ImageReview {
  readonly kind: string;
  readonly spec: { readonly containers?: readonly { readonly image: string }[]; readonly annotations?: object; readonly namespace: string };
}
const asked: ImageReview['spec'][] = [];

/** A webhook that allows the image `good` and fails for `broken`. */
const service = createServer((request, response) => {
  void json(request).then((body) => {
    const { spec } = body as ImageReview;
    asked.push(spec);
    const images = (spec.containers ?? []).map(({ image }) => image);
    if (images.includes('broken')) return void response.writeHead(400).end('secret');
    const bad = images.find((image) => image !== 'good' && image !== 'mute');
    const status = { allowed: bad === undefined && !images.includes('mute'), ...(bad && { reason: `${bad} is not known` }) };
    response.end(JSON.stringify({ kind: 'ImageReview', status: { ...status, auditAnnotations: { seen: images.join() } } }));
  });
});
service.listen(0, '127.0.0.1');
await once(service, 'listening');
const folder = await mkdtemp(join(tmpdir(), 'kubenest-images-'));
const file = join(folder, 'kubeconfig');
const shutdown = new AbortController();
afterAll(async () => {
  shutdown.abort();
  service.close();
  await rm(folder, { recursive: true });
});
await writeFile(
  file,
  JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c' } }],
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${(service.address() as AddressInfo).port}` } }],
  }),
);

async function plugin(defaultAllow: boolean): Promise<ImagePolicyWebhook> {
  const configuration = new ImagePolicyConfiguration();
  Object.assign(configuration.imagePolicy, { kubeConfigFile: file, defaultAllow, retryBackoff: -1 });
  await configuration.load();
  const { clock, logger } = fakeServices();
  return new ImagePolicyWebhook(configuration, clock, logger, shutdown.signal);
}

const pod = (spec: object, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'ns', annotations },
  spec,
});
const images = (...names: string[]): { containers: object[] } => ({ containers: names.map((image, at) => ({ name: `c${at}`, image })) });
const seen = 'imagepolicywebhook.image-policy.k8s.io/seen';
const failedOpen = 'imagepolicywebhook.image-policy.k8s.io/failed-open';

const rows: AdmissionRow[] = [
  { name: 'known images', object: pod(images('good', 'good')), annotations: { [seen]: 'good,good' } },
  {
    name: 'an unknown image',
    object: pod(images('good', 'bad')),
    denied: /image policy webhook backend denied one or more images: bad is not known$/,
  },
  { name: 'a denial without a reason', object: pod(images('mute')), denied: /one or more images rejected by webhook backend$/ },
  {
    name: 'an image of an init container',
    object: pod({ ...images('good'), initContainers: [{ name: 'i', image: 'bad' }] }),
    denied: /bad is not known$/,
  },
  {
    name: 'an image of an ephemeral container is reviewed alone',
    subresource: 'ephemeralcontainers',
    object: pod({ ...images('bad'), ephemeralContainers: [{ name: 'e', image: 'good' }] }),
    oldObject: pod(images('bad')),
    annotations: { [seen]: 'good' },
  },
  { name: 'the status of a pod', subresource: 'status', object: pod(images('bad')), oldObject: pod(images('bad')), annotations: {} },
];
const closed = { name: 'a failing service with defaultAllow false', object: pod(images('broken')), denied: /the service answered 400$/ };
const opened = {
  name: 'a failing service with defaultAllow true',
  object: pod(images('broken')),
  want: pod(images('broken'), { 'alpha.image-policy.k8s.io/failed-open': 'true' }),
  annotations: { [failedOpen]: 'true' },
};

admissionTable(await plugin(false), [...rows, closed]);
admissionTable(await plugin(true), [opened]);

it('caches allowed reviews and sends the annotations meant for the webhook', async () => {
  asked.length = 0;
  const instance = await plugin(false);
  const annotations = { 'a.image-policy.k8s.io/b': 'c', other: 'x' };
  const request = { object: pod(images('good'), annotations), subresource: '', namespace: 'ns', addAnnotation: () => {} };
  for (let i = 0; i < 3; i += 1) await instance.validate(request as unknown as Parameters<ImagePolicyWebhook['validate']>[0]);
  expect(asked).toEqual([{ containers: [{ image: 'good' }], annotations: { 'a.image-policy.k8s.io/b': 'c' }, namespace: 'ns' }]);
});

it('sends no containers for a pod without containers', async () => {
  asked.length = 0;
  const request = { object: pod(images('good')), subresource: 'ephemeralcontainers', namespace: 'ns', addAnnotation: () => {} };
  await (await plugin(false)).validate(request as unknown as Parameters<ImagePolicyWebhook['validate']>[0]);
  expect(asked).toEqual([{ namespace: 'ns' }]);
});
