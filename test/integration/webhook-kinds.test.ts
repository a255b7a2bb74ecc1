import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { startTestCluster, type TestCluster } from '#testing/index';
import type { Json } from './custom-kinds.ts';
import { startWebhook, type WebhookServer } from './webhook-server.ts';

/*
 * Mutating webhooks that change an object's kind, version or namespace. The responses are those of kube-apiserver v1.36.3
 * (except for a ConfigMap changed to a Secret, where it answers `illegal base64 data at input byte 0`, because it decodes
 * the values first).
 */

const kind = (value: unknown): Json => ({ op: 'replace', path: '/kind', value });
const apiVersion = (value: unknown): Json => ({ op: 'replace', path: '/apiVersion', value });
const registered = (name: string, version: string): string =>
  `Internal error occurred: no kind "${name}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`;
const unsuitable = (said: string): string => `${said} is unstructured and is not suitable for converting to "hooks.dev/v1"`;
const unreadable =
  "Internal error occurred: couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string";
const isArray =
  'Internal error occurred: couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
const isNothing = 'Internal error occurred: replace operation value must be object or array: %!w(<nil>)';
const otherNamespace = 'the namespace of the provided object does not match the namespace sent on the request';

interface Row {
  readonly name: string;
  readonly patch: readonly Json[];
  /** Message of the rejection, or the status of success, for a ConfigMap and a custom resource. */
  readonly builtIn: string | RegExp | 201;
  readonly custom: string | RegExp | 201;
}

const rows: readonly Row[] = [
  {
    name: 'kind-of-another-resource',
    patch: [kind('Secret')],
    builtIn: 'converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    custom: 'Secret.hooks.dev "kind-of-another-resource" is invalid: kind: Invalid value: "Secret": must be Hooked',
  },
  {
    name: 'unknown-kind',
    patch: [kind('Foo')],
    builtIn: registered('Foo', 'v1'),
    custom: 'Foo.hooks.dev "unknown-kind" is invalid: kind: Invalid value: "Foo": must be Hooked',
  },
  { name: 'empty-kind', patch: [kind('')], builtIn: 201, custom: /^Internal error occurred: Object 'Kind' is missing in '\{"apiVersion"/ },
  {
    name: 'no-kind',
    patch: [{ op: 'remove', path: '/kind' }],
    builtIn: 201,
    custom: /^Internal error occurred: Object 'Kind' is missing in '\{"apiVersion"/,
  },
  {
    name: 'unknown-version',
    patch: [apiVersion('v2')],
    builtIn: registered('ConfigMap', 'v2'),
    custom: unsuitable('/v2, Kind=Hooked'),
  },
  { name: 'no-version', patch: [{ op: 'remove', path: '/apiVersion' }], builtIn: 201, custom: unsuitable('/, Kind=Hooked') },
  {
    name: 'another-group',
    patch: [kind('Deployment'), apiVersion('apps/v1')],
    builtIn: 'converting (v1.Deployment) to (core.ConfigMap): unknown conversion',
    custom: unsuitable('apps/v1, Kind=Deployment'),
  },
  {
    name: 'no-version-at-all',
    patch: [apiVersion('a/b/c')],
    builtIn: 'Internal error occurred: unexpected GroupVersion string: a/b/c',
    custom: 'Internal error occurred: unexpected GroupVersion string: a/b/c',
  },
  {
    name: 'a-kind-that-is-a-number',
    patch: [kind(5)],
    builtIn: unreadable,
    custom: unreadable,
  },
  {
    name: 'a-kind-of-null',
    patch: [kind(null)],
    builtIn: 201,
    custom: /^Internal error occurred: Object 'Kind' is missing in '\{"apiVersion"/,
  },
  {
    name: 'a-list',
    patch: [{ op: 'replace', path: '', value: [] }],
    builtIn: isArray,
    custom: isArray,
  },
  {
    name: 'nothing',
    patch: [{ op: 'replace', path: '', value: null }],
    builtIn: isNothing,
    custom: isNothing,
  },
  {
    name: 'another-namespace',
    patch: [{ op: 'replace', path: '/metadata/namespace', value: 'other' }],
    builtIn: otherNamespace,
    custom: otherNamespace,
  },
];

const patched = (uid: unknown, operations: readonly Json[]): Json => {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  const response = { uid, allowed: true, patchType: 'JSONPatch', patch };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
};

/** Returns a configuration that matches the creation of such objects. */
const configurationOf = (name: string, { port, certificateAuthority }: WebhookServer, rule: Json): KubeObject => {
  const clientConfig = { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(certificateAuthority).toString('base64') };
  const rules = [{ ...rule, apiVersions: ['v1'], operations: ['CREATE'] }];
  const webhook = { name: `${name}.hooks.dev`, clientConfig, rules, sideEffects: 'None', admissionReviewVersions: ['v1'] };
  const configuration = { kind: 'MutatingWebhookConfiguration', metadata: { name }, webhooks: [webhook] };
  return { apiVersion: 'admissionregistration.k8s.io/v1', ...configuration };
};

let webhook: WebhookServer;
let cluster: TestCluster;

beforeAll(async () => {
  webhook = await startWebhook(({ request }) => {
    const { uid, name } = request as { uid: string; name: string };
    return patched(uid, rows.find((row) => row.name === name)?.patch ?? []);
  });
  const names = { plural: 'hookeds', kind: 'Hooked' };
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  cluster = await startTestCluster({
    quiet: true,
    objects: [
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'hookeds.hooks.dev' },
        spec: { group: 'hooks.dev', scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, schema }] },
      },
      configurationOf('hook', webhook, { apiGroups: ['', 'hooks.dev'], resources: ['configmaps', 'hookeds'] }),
    ],
  });
  const collection = '/apis/hooks.dev/v1/namespaces/default/hookeds';
  await vi.waitUntil(async () => (await cluster.fetch(collection)).status !== 404);
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  webhook[Symbol.dispose]();
});

async function create(path: string, body: Json): Promise<string | number> {
  const response = await cluster.fetch(path, { body });
  const { message, ...created } = (await response.json()) as { message?: string; apiVersion: string; kind: string };
  if (response.status !== 201) return message ?? '';
  expect(created).toMatchObject({ apiVersion: body['apiVersion'], kind: body['kind'] });
  return response.status;
}

it.each(rows)('a webhook that changes a kind: $name', async ({ name, builtIn, custom }) => {
  const metadata = { name };
  const answers = [
    [await create('/api/v1/namespaces/default/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } }), builtIn],
    [await create('/apis/hooks.dev/v1/namespaces/default/hookeds', { apiVersion: 'hooks.dev/v1', kind: 'Hooked', metadata }), custom],
  ] as const;
  for (const [answer, want] of answers) {
    if (want instanceof RegExp) expect(answer).toMatch(want);
    else expect(answer).toBe(want);
  }
});

it('a webhook that returns another version of the same object', async () => {
  // The older autoscaler version stores fields that it lacks in an annotation.
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
  using versions = await startWebhook(({ request }) => {
    const { uid } = request as { uid: string };
    const metrics = [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 33 } } }];
    return patched(uid, [
      apiVersion('autoscaling/v2'),
      { op: 'remove', path: '/spec/targetCPUUtilizationPercentage' },
      { op: 'add', path: '/spec/metrics', value: metrics },
    ]);
  });
  const configured = await cluster.fetch('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
    body: configurationOf('versions', versions, { apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers'] }),
  });
  expect(configured.status).toBe(201);
  const response = await cluster.fetch('/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers', {
    body: {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h' },
      spec: { maxReplicas: 3, scaleTargetRef: target, targetCPUUtilizationPercentage: 50 },
    },
  });
  expect(await response.json()).toMatchObject({ apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 33 } });
});
