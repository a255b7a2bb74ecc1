/** Patches that change apiVersion or kind: the responses equal those of kube-apiserver v1.36.3. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';

const configMap = '/api/v1/namespaces/default/configmaps/a';
const lease = '/apis/coordination.k8s.io/v1/namespaces/default/leases/a';
const custom = '/apis/example.dev/v1/namespaces/default/things/a';

const noName = 'the name of the object (a based on URL) was undeterminable: name must be provided';
const noVersion = "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'";
const unknownFields = 'strict decoding error: unknown field "data", unknown field "metadata"';
const dataAndMetadata = ['299 - "unknown field \\"data\\""', '299 - "unknown field \\"metadata\\""'];
const internal = (kind: string, group: string): string =>
  `no kind "${kind}" is registered for the internal version of group "${group}" in scheme "pkg/runtime/scheme.go:111"`;
const wrongType = (field: string): string =>
  `couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .${field} of type string`;

interface Row {
  readonly path: string;
  readonly patch: Record<string, unknown>;
  readonly validation?: string;
  readonly code: number;
  /** The end of the message: before it, an invalid patch has the whole document. */
  readonly message: string;
  readonly warnings?: readonly string[];
}

const rows: readonly Row[] = [
  { path: configMap, patch: { apiVersion: '' }, code: 400, message: noName, warnings: dataAndMetadata },
  { path: configMap, patch: { apiVersion: null }, code: 400, message: noName, warnings: dataAndMetadata },
  { path: configMap, patch: { apiVersion: '', kind: '' }, code: 400, message: noName, warnings: dataAndMetadata },
  { path: configMap, patch: { apiVersion: '' }, validation: 'Ignore', code: 400, message: noName },
  { path: configMap, patch: { apiVersion: '' }, validation: 'Strict', code: 422, message: unknownFields },
  { path: configMap, patch: { apiVersion: '', name: 'q' }, validation: 'Strict', code: 422, message: unknownFields },
  {
    path: configMap,
    patch: { apiVersion: '', name: 'q' },
    code: 400,
    message: 'the name of the object (q) does not match the name on the URL (a)',
    warnings: dataAndMetadata,
  },
  { path: configMap, patch: { apiVersion: '', kind: 'X' }, code: 422, message: internal('X', '') },
  { path: lease, patch: { apiVersion: '', kind: 'X' }, code: 422, message: internal('X', 'coordination.k8s.io') },
  { path: lease, patch: { apiVersion: '', kind: 'Secret' }, code: 422, message: internal('Secret', 'coordination.k8s.io') },
  {
    path: configMap,
    patch: { apiVersion: '', kind: 'Secret' },
    code: 422,
    message: 'converting (core.Secret) to (core.ConfigMap): unknown conversion',
  },
  { path: configMap, patch: { apiVersion: 'a/b/c' }, code: 422, message: 'unexpected GroupVersion string: a/b/c' },
  { path: configMap, patch: { apiVersion: 1 }, code: 422, message: wrongType('apiVersion') },
  { path: configMap, patch: { kind: 1 }, code: 422, message: wrongType('kind') },
  { path: custom, patch: { apiVersion: '' }, code: 500, message: noVersion },
  { path: custom, patch: { apiVersion: null }, code: 500, message: noVersion },
  { path: custom, patch: { apiVersion: 'a/b/c' }, code: 422, message: 'unexpected GroupVersion string: a/b/c' },
  { path: custom, patch: { apiVersion: 1 }, code: 422, message: wrongType('apiVersion') },
  { path: custom, patch: { kind: 1 }, code: 422, message: wrongType('kind') },
];

describe('patches of apiVersion and kind', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.example.dev' },
      spec: { group: 'example.dev', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions },
    };
    cluster = await startTestCluster({ objects: [definition] });
    for (const [path, body] of [
      [configMap, { metadata: { name: 'a' }, data: { x: 'y' } }],
      [lease, { metadata: { name: 'a' } }],
      [custom, { apiVersion: 'example.dev/v1', kind: 'Thing', metadata: { name: 'a' } }],
    ] as const) {
      expect((await cluster.fetch(path.slice(0, -2), { body })).status).toBe(201);
    }
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  const send = async (path: string, type: string, body: unknown): Promise<{ code: number; message: string; warnings: string }> => {
    const response = await cluster.fetch(path, { method: 'PATCH', headers: { 'content-type': type }, body: JSON.stringify(body) });
    const { message = '' } = (await response.json()) as { message?: string };
    return { code: response.status, message, warnings: response.headers.get('warning') ?? '' };
  };

  it.each(rows)(
    '$path $validation merge patch $patch: $code',
    async ({ path, patch, validation = 'Warn', code, message, warnings = [] }) => {
      const got = await send(`${path}?fieldValidation=${validation}`, 'application/merge-patch+json', patch);
      expect(got).toMatchObject({ code, warnings: warnings.join(', ') });
      expect(got.message.slice(-message.length)).toBe(message);
    },
  );

  it.each(rows)(
    '$path $validation JSON patch $patch: $code',
    async ({ path, patch, validation = 'Warn', code, message, warnings = [] }) => {
      const operations = Object.entries(patch).map(([key, value]) => ({ op: 'replace', path: `/${key}`, value }));
      const got = await send(`${path}?fieldValidation=${validation}`, 'application/json-patch+json', operations);
      const isNull = path === custom && patch['apiVersion'] === null;
      const wanted = isNull ? '.apiVersion accessor error: <nil> is of the type <nil>, expected string' : message;
      expect(got).toMatchObject({ code: isNull ? 422 : code, warnings: warnings.join(', ') });
      expect(got.message.slice(-wanted.length)).toBe(wanted);
    },
  );

  it.each([{ kind: '' }, { kind: null }, { apiVersion: '', kind: '' }])('a custom resource with %j has no kind', async (patch) => {
    const { code, message } = await send(custom, 'application/merge-patch+json', patch);
    expect(code).toBe(422);
    expect(message).toMatch(/^ "" is invalid: patch: Invalid value: ".*": Object 'Kind' is missing in '\{.*\}'$/);
  });

  it('an apply with a malformed version names none', async () => {
    const { code, message } = await send(`${configMap}?fieldManager=m`, 'application/apply-patch+yaml', { apiVersion: 'a/b/c' });
    expect({ code, message }).toEqual({ code: 400, message: 'invalid object type: /, Kind=' });
  });
});
