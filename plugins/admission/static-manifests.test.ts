import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { AdmissionPluginClass } from '#apiserver/admission/attributes';
import { ManifestCodec } from '#apiserver/admission/manifest/manifest-codec';
import { readManifestFiles } from '#apiserver/admission/manifest/manifest-files';
import { ManifestMetrics } from '#apiserver/admission/manifest/manifest-metrics';
import { ManifestFolders } from '#apiserver/admission/manifest/manifests';
import { newPlugin } from '#apiserver/plugins/new-plugin';
import { newServiceContainer } from '#apiserver/plugins/plugin-services';
import { Scheme } from '#apiserver/registry/scheme';
import { SchemeBuilder } from '#apiserver/registry/scheme-builder';
import { admissionRegistrationGroup } from '#kubernetes/apis/admissionregistration/group';
import { schema } from '#kubernetes/schema/schema';
import { fakeServices } from '#sdk/testing/fake-services';
import type { ManifestsConfiguration } from './manifests-configuration.ts';
import { MutatingAdmissionPolicy } from './mutating-admission-policy.ts';
import { ValidatingAdmissionPolicy } from './validating-admission-policy.ts';
import { MutatingAdmissionWebhook } from './webhook/mutating-admission-webhook.ts';
import { ValidatingAdmissionWebhook } from './webhook/validating-admission-webhook.ts';

const scheme = new Scheme();
new SchemeBuilder(schema, admissionRegistrationGroup).addToScheme(scheme);
let root: string;
let count = 0;
const shutdown = new AbortController();
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'kubenest-manifests-'));
});
afterAll(async () => {
  shutdown.abort();
  await rm(root, { recursive: true });
});

type Files = Readonly<Record<string, string>>;

async function write(files: Files, folder = join(root, String((count += 1)))): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    // Writes atomically: a complete file is renamed into place.
    await writeFile(join(root, 'new'), text);
    await rename(join(root, 'new'), join(folder, name));
  }
  return folder;
}

const registry = new Registry();
const log = vi.fn();
const manifests = new ManifestFolders({
  codec: new ManifestCodec(scheme),
  metrics: new ManifestMetrics(registry, 'server'),
  logger: { info: log, warn: log, error: log },
  shutdown: shutdown.signal,
});

/** Starts a plugin with a manifest folder. Rejects like the server's start. */
async function start(Plugin: AdmissionPluginClass, folder: string, isOn = true): Promise<void> {
  const { name, configuration } = admissionPluginOptions(Plugin);
  const instance = new (configuration as new () => ManifestsConfiguration)();
  instance.staticManifestsDir = folder;
  await instance.load({ enabled: () => isOn });
  newPlugin(newServiceContainer(fakeServices({ manifests, shutdownSignal: shutdown.signal })), name, Plugin, { configuration: instance });
}

const head = (kind: string, name: string | undefined, version = 'v1') =>
  `apiVersion: admissionregistration.k8s.io/${version}\nkind: ${kind}\nmetadata: ${name === undefined ? '{}' : `{name: ${name}}`}\n`;
const hook = (client = '{url: "https://hooks.example.com/a"}', rest = '') =>
  `webhooks: [{name: a.example.com, clientConfig: ${client}, sideEffects: None, admissionReviewVersions: [v1]${rest}}]\n`;
const match = 'matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}';
const validating = (name = 'x.static.k8s.io', rest = '') =>
  `${head('ValidatingAdmissionPolicy', name)}spec: {${match}, validations: [{expression: "true"}]${rest}}\n`;
const binding = (policyName = 'x.static.k8s.io', rest = '') =>
  `${head('ValidatingAdmissionPolicyBinding', 'y.static.k8s.io')}spec: {policyName: ${policyName}, validationActions: [Deny]${rest}}\n`;
const mutating = (rest = '') =>
  `${head('MutatingAdmissionPolicy', 'x.static.k8s.io')}spec: {${match}, reinvocationPolicy: Never, mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: \\"test\\", path: \\"/a\\", value: 1}]"}}]${rest}}\n`;
const list = (...items: string[]) =>
  `apiVersion: v1\nkind: List\nitems:\n${items.map((item) => `- ${item.trim().replaceAll('\n', '\n  ')}\n`).join('')}`;
const config = (name = 'x.static.k8s.io') => head('ValidatingWebhookConfiguration', name) + hook();
const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n';
const noKind = 'no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"';

interface Row {
  readonly name: string;
  readonly plugin?: AdmissionPluginClass;
  readonly files: Files;
  /**
   * Expected start-up error, equal to the real server's; `FILE` stands for the first file. Without it, the files are
   * accepted.
   */
  readonly says?: string;
}

const policy = ValidatingAdmissionPolicy;
const rows: Row[] = [
  { name: 'an empty folder', files: {} },
  { name: 'a configuration', files: { 'a.yaml': config() } },
  {
    name: 'several documents, files and file extensions',
    files: {
      'a.YML': `---\n${config()}---\n---  \n${config('y.static.k8s.io')}`,
      'b.json':
        '{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"z.static.k8s.io"}}',
      'c.txt': 'no',
      'd.yaml': '',
    },
  },
  { name: 'a nested folder', files: { 'a.yaml': config(), 'b/c.yaml': 'a: [' } },
  { name: 'a list', files: { 'a.yaml': list(config(), config('y.static.k8s.io')) } },
  {
    name: 'a List of the kind',
    files: {
      'a.yaml': `apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfigurationList\nitems:\n- metadata: {name: x.static.k8s.io}\n`,
    },
  },
  { name: 'a List inside a List', files: { 'a.yaml': list(list(config())) } },
  {
    name: 'mutating webhooks',
    plugin: MutatingAdmissionWebhook,
    files: { 'a.yaml': head('MutatingWebhookConfiguration', 'x.static.k8s.io') + hook() },
  },
  { name: 'a policy and its binding', plugin: policy, files: { 'a.yaml': binding(), 'b.yaml': validating() } },
  { name: 'a mutating policy with its binding', plugin: MutatingAdmissionPolicy, files: { 'a.yaml': mutating() } },
  { name: 'another kind', files: { 'a.yaml': pod }, says: `error loading FILE: ${noKind}` },
  {
    name: 'mutating webhooks in a folder of validating ones',
    files: { 'a.yaml': head('MutatingWebhookConfiguration', 'x.static.k8s.io') + hook() },
    says: 'error loading FILE: unsupported resource type *v1.MutatingWebhookConfiguration',
  },
  {
    name: 'a Status',
    files: { 'a.yaml': 'apiVersion: v1\nkind: Status\n' },
    says: 'error loading FILE: unsupported resource type *v1.Status',
  },
  {
    name: 'a name without the required suffix',
    files: { 'a.yaml': config('x') },
    says: 'error loading FILE: "x" in file "FILE" must have a name ending with ".static.k8s.io"',
  },
  {
    name: 'a duplicate name',
    files: { 'a.yaml': config(), 'b.yaml': config() },
    says: 'error loading DIR/b.yaml: duplicate name "x.static.k8s.io" found in file "DIR/b.yaml" (previously seen in "FILE")',
  },
  {
    name: 'unknown fields',
    files: { 'a.yaml': head('ValidatingWebhookConfiguration', 'x.static.k8s.io') + hook(undefined, ', foo: 1') },
    says: 'error loading FILE: strict decoding error: unknown field "webhooks[0].foo"',
  },
  {
    name: 'a duplicate field',
    files: { 'a.yaml': head('ValidatingWebhookConfiguration', 'x.static.k8s.io') + hook(undefined, ', foo: 1, name: b') },
    says: 'error loading FILE: strict decoding error: yaml: unmarshal errors:\n  line 4: key "name" already set in map, unknown field "webhooks[0].foo"',
  },
  {
    name: 'an object that the API would reject',
    files: {
      'a.yaml': `${head('ValidatingWebhookConfiguration', undefined)}webhooks: [{name: a, clientConfig: {url: "http://x/y"}, sideEffects: Some, admissionReviewVersions: [v1]}]\n`,
    },
    says: `error loading FILE: ValidatingWebhookConfiguration "": [metadata.name: Required value: name or generateName is required, webhooks[0].name: Invalid value: "a": should be a domain with at least three segments separated by dots, webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun", webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]]`,
  },
  {
    name: 'a service',
    files: { 'a.yaml': head('ValidatingWebhookConfiguration', 'x.static.k8s.io') + hook('{service: {name: a, namespace: b}}') },
    says: 'error loading FILE: webhook "a.example.com" in "x.static.k8s.io" (file "FILE"): clientConfig.service is not supported for static manifests; use clientConfig.url instead',
  },
  {
    name: 'another kind inside a List',
    files: { 'a.yaml': list(config(), pod) },
    says: `error loading FILE: failed to decode list item: ${noKind}`,
  },
  { name: 'invalid YAML', files: { 'a.yaml': 'a: [\n' }, says: 'error loading FILE: yaml: ' },
  { name: 'a missing kind', files: { 'a.yaml': 'foo: bar\n' }, says: "error loading FILE: Object 'Kind' is missing in 'foo: bar'" },
  {
    name: 'a file with only a comment',
    files: { 'a.yaml': '# only a comment\n' },
    says: "error loading FILE: Object 'Kind' is missing in '# only a comment'",
  },
  {
    name: 'a sequence',
    files: { 'a.yaml': '- a\n' },
    says: 'error loading FILE: couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
  },
  {
    name: 'a wrong type',
    files: { 'a.yaml': head('ValidatingWebhookConfiguration', '[x]') },
    says: 'error loading FILE: json: cannot unmarshal array into Go struct field ObjectMeta.metadata.name of type string',
  },
  {
    name: 'parameters of a policy',
    plugin: policy,
    files: { 'a.yaml': validating(undefined, ', paramKind: {apiVersion: v1, kind: ConfigMap}') },
    says: 'error loading FILE: ValidatingAdmissionPolicy "x.static.k8s.io": spec.paramKind is not supported for static manifests',
  },
  {
    name: 'parameters of a mutating policy',
    plugin: MutatingAdmissionPolicy,
    files: { 'a.yaml': mutating(', paramKind: {apiVersion: v1, kind: ConfigMap}') },
    says: 'error loading FILE: MutatingAdmissionPolicy "x.static.k8s.io": spec.paramKind is not supported for static manifests',
  },
  {
    name: 'parameters of a binding',
    plugin: policy,
    files: { 'a.yaml': binding(undefined, ', paramRef: {name: x, parameterNotFoundAction: Deny}') },
    says: 'error loading FILE: binding "y.static.k8s.io": spec.paramRef is not supported for static manifests',
  },
  {
    name: 'a binding of an API policy',
    plugin: policy,
    files: { 'a.yaml': binding('x') },
    says: 'error loading FILE: binding "y.static.k8s.io": spec.policyName "x" must end with ".static.k8s.io"',
  },
  {
    name: 'a binding without a policy',
    plugin: policy,
    files: { 'a.yaml': binding() },
    says: 'binding "y.static.k8s.io" references policy "x.static.k8s.io" which does not exist in the manifest directory',
  },
  {
    name: 'an invalid expression',
    plugin: policy,
    files: { 'a.yaml': validating().replace('"true"', '"object.foo +"') },
    says: `error loading FILE: ValidatingAdmissionPolicy "x.static.k8s.io": spec.validations[0].expression: Invalid value: "object.foo +": compilation failed: ERROR: <input>:1:13: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | object.foo +\n | ............^`,
  },
  {
    name: 'a mutating policy in a folder of validating ones',
    plugin: policy,
    files: { 'a.yaml': mutating() },
    says: 'error loading FILE: unsupported resource type *v1.MutatingAdmissionPolicy',
  },
  {
    name: 'an older version',
    plugin: MutatingAdmissionPolicy,
    files: { 'a.yaml': head('MutatingAdmissionPolicy', 'x.static.k8s.io', 'v1beta1') },
    says: 'error loading FILE: unsupported resource type *v1beta1.MutatingAdmissionPolicy',
  },
];

describe('a folder of manifests', () => {
  it.each(rows)('$name', async ({ plugin = ValidatingAdmissionWebhook, files, says }) => {
    const folder = await write(files);
    const begun = start(plugin, folder);
    if (says === undefined) return void (await expect(begun).resolves.toBeUndefined());
    const { name } = admissionPluginOptions(plugin);
    const what = name.endsWith('Webhook') ? 'webhook' : 'policy';
    const reason = says.replaceAll('FILE', join(folder, 'a.yaml')).replaceAll('DIR', folder);
    await expect(begun).rejects.toThrow(`failed to load static ${what} manifests from "${folder}": ${reason}`);
  });

  it.each<[string, (folder: string) => string, boolean, RegExp]>([
    [
      'without the feature gate',
      (folder) => folder,
      false,
      /^staticManifestsDir: Forbidden: staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled$/,
    ],
    ['with a relative path', () => 'rel', true, /^staticManifestsDir: Invalid value: "rel": must be an absolute file path$/],
    [
      'for a missing folder',
      (folder) => `${folder}/none`,
      true,
      /^staticManifestsDir: Invalid value: ".*\/none": unable to read: stat .*\/none: no such file or directory$/,
    ],
    [
      'for a file instead of a folder',
      (folder) => `${folder}/a.yaml`,
      true,
      /^staticManifestsDir: Invalid value: ".*\/a.yaml": must be a directory$/,
    ],
  ])('is rejected %s', async (_, place, isOn, says) => {
    const folder = await write({ 'a.yaml': config() });
    await expect(start(ValidatingAdmissionWebhook, place(folder), isOn)).rejects.toThrow(says);
  });

  it('is reloaded on changes, and an invalid change is ignored', async () => {
    const folder = await write({ 'a.yaml': config('one.static.k8s.io') });
    const source = manifests.follow(await readManifestFiles(folder), {
      plugin: 'Test',
      what: 'webhook',
      kinds: ['ValidatingWebhookConfiguration'],
      check: () => {},
      build: (all) => all.map(({ metadata }) => metadata.name),
    });
    const changed = vi.fn();
    source.subscribe(changed);
    expect(source.current).toEqual(['one.static.k8s.io']);
    await write({ 'b.yaml': config('another.static.k8s.io') }, folder);
    await vi.waitFor(() => expect(source.current).toEqual(['another.static.k8s.io', 'one.static.k8s.io']));
    await write({ 'a.yaml': config('wrong') }, folder);
    await vi.waitFor(async () =>
      expect(await registry.metrics()).toMatch(
        /automatic_reloads_total\{status="failure",plugin="Test",apiserver_id_hash="sha256:\w{64}"\} [1-9]/,
      ),
    );
    expect(source.current).toEqual(['another.static.k8s.io', 'one.static.k8s.io']);
    await rm(join(folder, 'a.yaml'));
    await vi.waitFor(() => expect(source.current).toEqual(['another.static.k8s.io']));
    expect(changed).toHaveBeenCalledTimes(2);
    const metrics = await registry.metrics();
    expect(metrics).toMatch(/automatic_reloads_total\{status="success",plugin="Test",.*\} 3/);
    expect(metrics.match(/last_config_info\{plugin="Test",apiserver_id_hash="sha256:\w{64}",hash="sha256:\w{64}"\} 1/g)).toHaveLength(1);
  });
});
