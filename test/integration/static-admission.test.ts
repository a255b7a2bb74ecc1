import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import type { Json } from './custom-kinds.ts';
import { HttpsClient } from './https-client.ts';
import { startWebhook, type WebhookServer } from './webhook-server.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const configMaps = '/api/v1/namespaces/default/configmaps';
const gate = '--feature-gates=ManifestBasedAdmissionControlConfig=true';
const apiVersion = 'admissionregistration.k8s.io/v1';

let folder: string;
let webhook: WebhookServer;
let cluster: TestCluster;
let client: HttpsClient;
/** Resources for which the webhook was called. */
const seen: string[] = [];

const rules = (...resources: string[]): Json[] => [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE'], resources, scope: '*' }];

/** Returns a configuration with one webhook. */
function hooks(kind: string, name: string, resources: readonly string[]): Json {
  const caBundle = Buffer.from(webhook.certificateAuthority).toString('base64');
  const clientConfig = { url: `https://127.0.0.1:${webhook.port}/${kind}`, caBundle };
  const hook = { name: 'hook.example.com', clientConfig, rules: rules(...resources), sideEffects: 'None', admissionReviewVersions: ['v1'] };
  return { apiVersion, kind, metadata: { name }, webhooks: [hook] };
}

/** Returns a policy that denies names with the word, and its binding. */
function policy(name: string, word: string, resources: readonly string[]): Json[] {
  const validations = [{ expression: `!object.metadata.name.contains('${word}')`, message: `${word} is not allowed` }];
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: { matchConstraints: { resourceRules: rules(...resources) }, validations },
    },
    { apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name }, spec: { policyName: name, validationActions: ['Deny'] } },
  ];
}

const write = (path: string, ...objects: Json[]): Promise<void> =>
  writeFile(join(folder, path), objects.map((object) => JSON.stringify(object)).join('\n---\n'));

/** Denies webhook configurations and labels other objects. */
function review({ request }: Json): Json {
  seen.push(request.resource.resource);
  const isMutating = request.kind.kind === 'ConfigMap' && request.object.metadata.labels?.mutate === 'yes';
  const patch = Buffer.from('[{"op":"replace","path":"/metadata/labels/mutate","value":"done"}]').toString('base64');
  const allowed = request.resource.resource !== 'validatingwebhookconfigurations';
  const response = { uid: request.uid, allowed, ...(isMutating && { patchType: 'JSONPatch', patch }), status: { message: 'not by hand' } };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-static-'));
  webhook = await startWebhook(review);
  const plugins = {
    ValidatingAdmissionWebhook: 'WebhookAdmissionConfiguration',
    MutatingAdmissionWebhook: 'WebhookAdmissionConfiguration',
    ValidatingAdmissionPolicy: 'ValidatingAdmissionPolicyConfiguration',
  };
  const configured = await Promise.all(
    Object.entries(plugins).map(async ([name, kind]) => {
      const staticManifestsDir = join(folder, name);
      await mkdir(staticManifestsDir);
      return { name, configuration: { apiVersion: 'apiserver.config.k8s.io/v1', kind, staticManifestsDir } };
    }),
  );
  await write('admission.yaml', { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration', plugins: configured });
  const validating = hooks('ValidatingWebhookConfiguration', 'hooks.static.k8s.io', ['secrets', 'validatingwebhookconfigurations']);
  await write('ValidatingAdmissionWebhook/a.yaml', validating);
  const resources = ['configmaps', 'subjectaccessreviews', 'validatingadmissionpolicies'];
  await write('ValidatingAdmissionPolicy/a.yaml', ...policy('names.static.k8s.io', 'bad', resources));
  cluster = await startTestCluster({
    listen: true,
    quiet: true,
    flags: [gate, `--admission-control-config-file=${join(folder, 'admission.yaml')}`],
  });
  client = new HttpsClient(cluster);
});
afterAll(async () => {
  client[Symbol.dispose]();
  await cluster[Symbol.asyncDispose]();
  webhook[Symbol.dispose]();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  seen.length = 0;
});

describe('webhooks and policies of manifests', () => {
  it('apply from the first request', async () => {
    expect((await client.call('POST', '/api/v1/namespaces/default/secrets', { metadata: { name: 's' } })).status).toBe(201);
    expect(seen).toEqual(['secrets']);
    const denied = await client.call('POST', configMaps, { metadata: { name: 'bad' } });
    expect(denied.status).toBe(422);
    expect(denied.body.message).toMatch(
      /ValidatingAdmissionPolicy 'names.static.k8s.io' with binding 'names.static.k8s.io' denied request: bad is not allowed$/,
    );
  });

  it('apply to admission configuration, unlike those of the API', async () => {
    const denied = await client.call('POST', `${group}/validatingwebhookconfigurations`, { metadata: { name: 'by-hand' } });
    expect(denied.body.message).toBe('admission webhook "hook.example.com" denied the request: not by hand');
    const [own, bound] = policy('api', 'worse', ['*']) as [Json, Json];
    expect((await client.call('POST', `${group}/validatingadmissionpolicies`, own)).status).toBe(201);
    expect((await client.call('POST', `${group}/validatingadmissionpolicybindings`, bound)).status).toBe(201);
    const [worse] = policy('worse', 'none', ['pods']) as [Json];
    expect((await client.call('POST', `${group}/validatingadmissionpolicies`, worse)).status).toBe(201);
    const [bad] = policy('bad', 'none', ['pods']) as [Json];
    expect((await client.call('POST', `${group}/validatingadmissionpolicies`, bad)).body.message).toMatch(/bad is not allowed$/);
  });

  it('run before those of the API', async () => {
    const { body } = await client.call('POST', configMaps, { metadata: { name: 'bad-worse' } });
    expect(body.message).toMatch(/bad is not allowed$/);
    const { body: worse } = await client.call('POST', configMaps, { metadata: { name: 'worse' } });
    expect(worse.message).toMatch(/worse is not allowed$/);
  });

  it('do not apply to access reviews', async () => {
    const spec = { user: 'jane', nonResourceAttributes: { path: '/', verb: 'get' } };
    const { status } = await client.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec });
    expect(status).toBe(201);
  });

  it('are not accessible by the API and not confused with API objects', async () => {
    const names = ['validatingadmissionpolicybindings', 'validatingadmissionpolicies'];
    for (const resource of names) {
      const { body } = await client.call('GET', `${group}/${resource}`);
      expect(body.items.map(({ metadata }: Json) => metadata.name)).not.toContain('names.static.k8s.io');
    }
    const [one] = policy('one.static.k8s.io', 'x', ['pods']) as [Json];
    const refused = await client.call('POST', `${group}/validatingadmissionpolicies`, one);
    expect(refused.status).toBe(422);
    expect(refused.body.message).toBe(
      'ValidatingAdmissionPolicy.admissionregistration.k8s.io "one.static.k8s.io" is invalid: metadata.name: Invalid value: "one.static.k8s.io": names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API',
    );
  });

  it('are reloaded when their files change', async () => {
    await write('MutatingAdmissionWebhook/a.yaml', hooks('MutatingWebhookConfiguration', 'more.static.k8s.io', ['configmaps']));
    let count = 0;
    const labelled = async (): Promise<Json> => {
      const metadata = { name: `c${(count += 1)}`, labels: { mutate: 'yes' } };
      return (await client.call('POST', configMaps, { metadata })).body;
    };
    await vi.waitFor(async () => expect((await labelled()).metadata.labels).toEqual({ mutate: 'done' }));
    await rm(join(folder, 'MutatingAdmissionWebhook/a.yaml'));
    await vi.waitFor(async () => expect((await labelled()).metadata.labels).toEqual({ mutate: 'yes' }));
    const metrics = await (await cluster.fetch('/metrics')).text();
    expect(metrics).toMatch(
      /apiserver_manifest_admission_config_controller_automatic_reloads_total\{.*plugin="MutatingAdmissionWebhook",status="success"\} 3\n/,
    );
  });

  it('prevent the start if they are invalid or not permitted', async () => {
    await write('wrong.yaml', {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: [
        {
          name: 'MutatingAdmissionPolicy',
          configuration: {
            apiVersion: 'apiserver.config.k8s.io/v1',
            kind: 'MutatingAdmissionPolicyConfiguration',
            staticManifestsDir: join(folder, 'ValidatingAdmissionPolicy'),
          },
        },
      ],
    });
    const flag = `--admission-control-config-file=${join(folder, 'wrong.yaml')}`;
    await expect(startTestCluster({ flags: [gate, flag] })).rejects.toThrow(
      /plugin MutatingAdmissionPolicy: failed to load static policy manifests from ".*": error loading .*: unsupported resource type \*v1.ValidatingAdmissionPolicy$/,
    );
    await expect(startTestCluster({ flags: [flag] })).rejects.toThrow(
      /staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate/,
    );
  });

  it('only cause a warning if admission is disabled', async () => {
    await using plain = await startTestCluster();
    const [one] = policy('one.static.k8s.io', 'x', ['pods']) as [Json];
    const response = await plain.fetch(`${group}/validatingadmissionpolicies`, { body: one });
    expect(response.status).toBe(201);
    expect(response.headers.get('warning')).toMatch(/metadata.name: names ending with \\".static.k8s.io\\" are reserved/);
  });
});
