import { Buffer } from 'node:buffer';
import { CustomObjectsApi, KubernetesObjectApi, type KubernetesObject, makeInformer, setHeaderOptions } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { customKinds, type Json, kind, type Kind } from './custom-kinds.ts';
import { startWebhook, type WebhookServer } from './webhook-server.ts';

interface Widget extends KubernetesObject {
  readonly spec: { readonly size?: number; readonly width?: number };
  readonly status?: { readonly observed?: number };
}

const integer = (name: string) => ({ type: 'object', properties: { [name]: { type: 'integer' } } });
const version = (name: string, field: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  subresources: { status: {} },
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: integer(field), status: integer('observed') } } },
});

/** Converts `spec.size` of v1 to `spec.width` of v2. */
function converting({ request }: Json): Json {
  const [from, to] = request.desiredAPIVersion.endsWith('/v1') ? ['width', 'size'] : ['size', 'width'];
  const convertedObjects = request.objects.map((object: Json) => {
    const { [from]: value, ...rest } = object['spec'];
    return { ...object, apiVersion: request.desiredAPIVersion, spec: { ...rest, [to]: value } };
  });
  const response = { uid: request.uid, convertedObjects, result: { status: 'Success' } };
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response };
}

describe('@kubernetes/client-node as an operator', () => {
  let cluster: TestCluster;
  let webhook: WebhookServer;
  let widgets: Kind;
  let objects: KubernetesObjectApi;
  let custom: CustomObjectsApi;

  beforeAll(async () => {
    [cluster, webhook] = await Promise.all([startTestCluster({ listen: true }), startWebhook(converting)]);
    const config = await cluster.kubeConfig();
    objects = KubernetesObjectApi.makeApiClient(config);
    custom = config.makeApiClient(CustomObjectsApi);
    const caBundle = Buffer.from(webhook.certificateAuthority).toString('base64');
    const clientConfig = { url: `https://127.0.0.1:${webhook.port}/`, caBundle };
    widgets = kind(
      {},
      {},
      {
        versions: [version('v1', 'size', true), version('v2', 'width', false)],
        conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
      },
    );
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    webhook[Symbol.dispose]();
  });

  const widget = (name: string, inVersion: string, spec: Widget['spec']): Widget => ({
    apiVersion: `${widgets.group}/${inVersion}`,
    kind: 'Widget',
    metadata: { name, namespace: 'default' },
    spec,
  });
  const place = (inVersion: string) => ({ group: widgets.group, version: inVersion, namespace: 'default', plural: 'widgets' });
  const read = async (name: string, inVersion: string) => (await custom.getNamespacedCustomObject({ ...place(inVersion), name })) as Widget;

  it('finds the mapping of a defined kind', async () => {
    await expect(objects.create(widget('early', 'v1', { size: 1 }))).rejects.toThrow(/Failed to fetch resource metadata|404/);
    await customKinds(cluster).define(widgets);
    expect(await objects.create(widget('a', 'v1', { size: 3 }))).toMatchObject({ spec: { size: 3 } });
  });

  it('reads and writes versions converted by a webhook', async () => {
    const inV2 = await read('a', 'v2');
    expect(inV2.spec).toEqual({ width: 3 });
    await custom.replaceNamespacedCustomObject({ ...place('v2'), name: 'a', body: { ...inV2, spec: { width: 4 } } });
    expect(await read('a', 'v1')).toMatchObject({ spec: { size: 4 }, metadata: { generation: 2 } });
  });

  it('updates a status without changing the generation', async () => {
    const body = { ...(await read('a', 'v1')), status: { observed: 4 } };
    await custom.replaceNamespacedCustomObjectStatus({ ...place('v1'), name: 'a', body });
    expect(await read('a', 'v2')).toMatchObject({ status: { observed: 4 }, metadata: { generation: 2 } });
  });

  it('follows objects of the converted version by an informer until their finalizers are removed', async () => {
    const seen: string[] = [];
    const list = () => custom.listNamespacedCustomObject(place('v2')) as Promise<{ items: Widget[] }>;
    const informer = makeInformer<Widget>(await cluster.kubeConfig(), widgets.path('v2'), list as never);
    const note = (event: string) => (object: Widget) => {
      seen.push(`${event} ${object.metadata?.name} ${object.spec.width} ${object.metadata?.deletionTimestamp ? 'going' : 'staying'}`);
    };
    for (const event of ['add', 'update', 'delete'] as const) informer.on(event, note(event));
    await informer.start();
    await objects.create({
      ...widget('b', 'v1', { size: 7 }),
      metadata: { name: 'b', namespace: 'default', finalizers: ['test.dev/hold'] },
    });
    await objects.delete(widget('b', 'v1', {}));
    await vi.waitFor(() => expect(seen).toContain('update b 7 going'));
    expect(await read('b', 'v1')).toMatchObject({ metadata: { finalizers: ['test.dev/hold'] } });
    const patch = { ...place('v1'), name: 'b', body: { metadata: { finalizers: null } } };
    await custom.patchNamespacedCustomObject(patch, setHeaderOptions('Content-Type', 'application/merge-patch+json'));
    await vi.waitFor(() => expect(seen.at(-1)).toBe('delete b 7 going'));
    await informer.stop();
    expect(seen).toEqual(['add a 4 staying', 'add b 7 staying', 'update b 7 going', 'delete b 7 going']);
    await expect(read('b', 'v1')).rejects.toMatchObject({ code: 404 });
  });
});
