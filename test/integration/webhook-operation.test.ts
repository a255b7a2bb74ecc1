/** Readiness and spans of a webhook server. */
import { Buffer } from 'node:buffer';
import { expect, it, vi } from 'vitest';
import { AdmissionPlugin } from '#apiserver/admission/admission-plugin';
import type { Attributes } from '#apiserver/admission/attributes';
import { contributionOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { Informers } from '#apiserver/registry/informers';
import { InProcessExchange } from '#apiserver/serving/in-process-exchange';
import { noCredentials } from '#apiserver/network/webhook/kubeconfig';
import { newLog } from '#cmd/logging/log';
import { createWebhookServer, type WebhookConfig, type WebhookServer } from '#cmd/webhook/webhook-server';
import { startTestCluster, type TestCluster } from '#testing/index';
import { startTraceCollector } from '../servers/trace-collector.ts';

class Marks {
  admit({ object }: Attributes): void {
    object.metadata.labels = { marked: 'yes' };
  }
}
AdmissionPlugin({ name: 'Marks', match: [{ resources: ['configmaps'], operations: ['CREATE'] }] })(Marks);

/** Starts a webhook server without a port. */
async function start(cluster: TestCluster, contribution: LoadedContribution, more: Partial<WebhookConfig> = {}): Promise<WebhookServer> {
  const { url, certificateAuthority } = cluster;
  const server = await createWebhookServer({
    connection: {
      ...noCredentials,
      url: new URL(url as string),
      authorization: `Bearer ${cluster.token('admin')}`,
      certificateAuthority,
      serverName: undefined,
      insecure: false,
    },
    contributions: [contribution],
    log: newLog(-1),
    id: 'replica-1',
    shutdownDelayMs: 0,
    ...more,
  });
  await server.start();
  return server;
}

async function ask({ server }: WebhookServer, url: string, body?: object, headers: Record<string, string> = {}): Promise<[number, string]> {
  const exchange = new InProcessExchange({
    method: body ? 'POST' : 'GET',
    url,
    headers: { 'content-type': 'application/json', ...headers },
    body: body && Buffer.from(JSON.stringify(body)),
  });
  server.serve(exchange);
  const response = await exchange.response;
  return [response.status, await response.text()];
}

async function isReady(server: WebhookServer): Promise<void> {
  await vi.waitFor(async () => expect((await ask(server, '/readyz'))[0]).toBe(200), { interval: 50 });
}

const review = {
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: '1',
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    operation: 'CREATE',
    namespace: 'default',
    name: 'a',
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
  },
};

it('is live but not ready, and answers 503, until the informers of its plugins have read their objects', async () => {
  await using cluster = await startTestCluster({ listen: true, quiet: true });
  const marks = contributionOf(Marks);
  const widgets = { group: 'acme.example', resource: 'widgets' };
  const server = await start(cluster, {
    ...marks,
    make(services) {
      services.get<Informers>(Informers).for(widgets);
      return marks.make(services);
    },
  });
  try {
    expect((await ask(server, '/livez'))[0]).toBe(200);
    expect((await ask(server, '/readyz'))[0]).toBe(500);
    expect(await ask(server, '/mutate', review)).toEqual([503, expect.stringMatching(/widgets\.acme\.example/)]);
    const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.acme.example' },
      spec: { group: widgets.group, scope: 'Namespaced', names, versions },
    };
    await cluster.fetch('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition });
    await isReady(server);
    expect((await ask(server, '/mutate', review))[0]).toBe(200);
  } finally {
    await server.stop();
  }
}, 30_000);

it('exports spans that link to those of the cluster', async () => {
  await using collector = await startTraceCollector();
  await using cluster = await startTestCluster({ listen: true, quiet: true });
  const tracing = { endpoint: collector.endpoint, samplingRatePerMillion: 1_000_000 };
  const server = await start(cluster, contributionOf(Marks), { tracing });
  await isReady(server);
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const spanId = 'b7ad6b7169203331';
  expect((await ask(server, '/mutate', review, { traceparent: `00-${traceId}-${spanId}-01` }))[0]).toBe(200);
  await server.stop();
  const span = collector.spans.find(({ name }) => name.startsWith('POST'));
  expect(span).toMatchObject({
    links: [`${traceId}-${spanId}`],
    resource: { 'service.name': 'kubenest-webhook', 'service.instance.id': 'replica-1' },
    attributes: { 'http.response.status_code': 200, 'url.path': '/mutate' },
  });
});
