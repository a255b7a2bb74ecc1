import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { jenkinsSchema, violations, windyRoadSchema } from './junit-schemas.ts';
import { stringify } from 'yaml';
import { runCommand } from '#cmd/commands/commands';
import type { Json } from './custom-kinds.ts';
import { startWebhook } from './webhook-server.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-policy-tests-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Ran {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

async function run(...args: string[]): Promise<Ran> {
  const output = vi.spyOn(console, 'log').mockReturnValue();
  const errors = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    const code = await runCommand(['test', ...args]);
    return { code, output: output.mock.calls.join('\n'), errors: errors.mock.calls.map(([text]) => String(text)).join('') };
  } finally {
    output.mockRestore();
    errors.mockRestore();
  }
}

/** Runs a file of tests and returns the result without the folder and the times. */
async function runTests(members: object, ...args: string[]): Promise<Ran> {
  const file = join(folder, 'tests.yaml');
  await writeFile(
    file,
    stringify({ apiVersion: 'kubenest.dev/v1alpha1', kind: 'PolicyTest', ...members }, { aliasDuplicateObjects: false }),
  );
  const ran = await run(file, ...args);
  return { ...ran, output: plain(ran.output) };
}

const plain = (text: string): string => text.replaceAll(`${folder}/`, '').replaceAll(/ \([\d.]+ m?s\)/g, '');

const configMap = (name: string, more: object = {}): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more });
const pod = (more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { containers: [{ name: 'a', image: 'nginx' }], ...more },
});
const admitted = { verdict: 'admitted' };

describe('CEL policies', () => {
  it('are tested with bindings, parameters, namespaces and users', async () => {
    const { code, output } = await run('docs/examples/cel-policies');
    expect(plain(output)).toMatch(/\n7 tests: 7 passed, 0 failed$/);
    expect(code).toBe(0);
  });

  it('that no longer deny fail the test', async () => {
    const policies = await readFile('docs/examples/cel-policies/policies.yaml', 'utf8');
    await writeFile(join(folder, 'policies.yaml'), policies.replace('<= int', '<= 2 * int'));
    for (const file of ['tests.yaml', 'cluster.yaml', 'deployment.yaml'])
      await writeFile(join(folder, file), await readFile(`docs/examples/cel-policies/${file}`, 'utf8'));
    const { code, output } = await run(join(folder, 'tests.yaml'));
    expect(code).toBe(1);
    expect(plain(output)).toContain(`
  ✗ too many replicas (tests.yaml:26)
      verdict: expected denied, got admitted
      by: expected replica-limit, got nothing
      code: expected 422, got 201
      message: expected at most 5 replicas are allowed, got ""
`);
    expect(plain(output)).toMatch(/\n7 tests: 3 passed, 4 failed$/);
  });
});

describe('webhooks', () => {
  it('are called, as those that fail', async () => {
    using server = await startWebhook(({ request }) => {
      const { uid, object, userInfo } = request as { uid: string; object: { metadata: { name: string } }; userInfo: { username: string } };
      const isDenied = object.metadata.name === 'bad';
      const patch = Buffer.from(JSON.stringify([{ op: 'add', path: '/data', value: { by: userInfo.username } }])).toString('base64');
      const answer = isDenied
        ? { allowed: false, status: { code: 403, message: 'bad name' } }
        : { allowed: true, patchType: 'JSONPatch', patch };
      return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, ...answer } } as Json;
    });
    const configuration = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'names' },
      webhooks: [
        {
          name: 'names.example.com',
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
          clientConfig: {
            url: `https://127.0.0.1:${server.port}/`,
            caBundle: Buffer.from(server.certificateAuthority).toString('base64'),
          },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    };
    const broken = structuredClone(configuration);
    broken.metadata.name = 'broken';
    Object.assign(broken.webhooks[0] as object, { name: 'broken.example.com', clientConfig: { url: 'https://127.0.0.1:1/' } });
    const { code, output } = await runTests({
      existing: [configuration],
      user: { name: 'ali' },
      tests: [
        {
          name: 'changed',
          object: configMap('good'),
          expect: {
            ...admitted,
            object: { data: { by: 'ali' } },
            patch: { MutatingAdmissionWebhook: [{ op: 'add', path: '/data', value: { by: 'ali' } }] },
          },
        },
        { name: 'denied', object: configMap('bad'), expect: { verdict: 'denied', by: 'names.example.com', message: 'bad name' } },
        {
          name: 'failed',
          existing: [broken],
          object: configMap('good'),
          expect: { verdict: 'failed', by: 'broken.example.com', message: 'failed calling webhook' },
        },
        { name: 'without the broken one', object: configMap('good'), expect: admitted },
      ],
    });
    expect(output).toBe('tests.yaml\n  ✓ changed\n  ✓ denied\n  ✓ failed\n  ✓ without the broken one\n\n4 tests: 4 passed, 0 failed');
    expect(code).toBe(0);
  });
});

it('webhooks of services are called at the external name of the service', async () => {
  const answer = ({ request: { uid } }: { request: { uid: string } }): Json =>
    ({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid, allowed: false, status: { message: 'by a service' } },
    }) as Json;
  using server = await startWebhook(answer as never, ['hooks.infra.svc']);
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'hooks', namespace: 'infra' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  };
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'hooks' },
    webhooks: [
      {
        name: 'hooks.example.com',
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        clientConfig: {
          service: { namespace: 'infra', name: 'hooks', port: server.port },
          caBundle: Buffer.from(server.certificateAuthority).toString('base64'),
        },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  };
  const { output } = await runTests({
    existing: [configuration, service],
    tests: [{ name: 'denied', object: configMap('a'), expect: { verdict: 'denied', by: 'hooks.example.com', message: 'by a service' } }],
  });
  expect(output).toMatch(/1 passed, 0 failed$/);
});

describe('the configuration of the server', () => {
  const tests = [
    {
      name: 'pulls images',
      object: pod({ containers: [{ name: 'a', image: 'nginx:1.29' }] }),
      expect: {
        ...admitted,
        patch: { AlwaysPullImages: [{ op: 'replace', path: '/spec/containers/0/imagePullPolicy', value: 'Always' }] },
      },
    },
  ];
  beforeAll(() =>
    writeFile(
      join(folder, 'kubenest.yaml'),
      stringify({
        apiVersion: 'kubenest.dev/v1alpha1',
        kind: 'ServerConfiguration',
        admission: { enableAdmissionPlugins: ['AlwaysPullImages'] },
      }),
    ),
  );

  it('is that of the test file', async () => {
    expect((await runTests({ config: 'kubenest.yaml', tests })).output).toMatch(/1 passed, 0 failed$/);
  });

  it('is that of the command for a file without one', async () => {
    expect((await runTests({ tests }, '--config', join(folder, 'kubenest.yaml'))).output).toMatch(/1 passed, 0 failed$/);
  });

  it('is the default one otherwise', async () => {
    expect((await runTests({ tests })).output).toContain('patch: AlwaysPullImages is not called');
  });
});

describe('requests', () => {
  it('are played for all operations, each with its own existing objects', async () => {
    const namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'shop', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    };
    const denies = { verdict: 'denied', by: 'PodSecurity' };
    const { output } = await runTests({
      tests: [
        { name: 'create', object: pod(), expect: admitted },
        { name: 'create in a restricted namespace', existing: [namespace], object: pod(), expect: denies },
        { name: 'create after it', object: pod(), expect: admitted },
        {
          name: 'update',
          oldObject: pod(),
          object: pod({ activeDeadlineSeconds: 5 }),
          expect: { ...admitted, object: { spec: { activeDeadlineSeconds: 5 } } },
        },
        { name: 'update of what does not exist', operation: 'UPDATE', object: pod(), expect: { verdict: 'invalid', code: 404 } },
        {
          name: 'invalid update',
          oldObject: pod(),
          object: pod({ hostNetwork: true }),
          expect: { verdict: 'invalid', message: 'Forbidden: pod updates may not change' },
        },
        { name: 'delete', operation: 'DELETE', oldObject: pod(), expect: admitted },
        {
          name: 'delete of a protected namespace',
          operation: 'DELETE',
          oldObject: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } },
          expect: { verdict: 'denied', by: 'NamespaceLifecycle' },
        },
        { name: 'an unknown field', object: configMap('a', { date: {} }), expect: { verdict: 'invalid', message: 'unknown field "date"' } },
        {
          name: 'connect',
          operation: 'CONNECT',
          resource: 'pods',
          subresource: 'exec',
          existing: [pod()],
          object: { apiVersion: 'v1', kind: 'PodExecOptions', metadata: { name: 'web', namespace: 'shop' }, command: ['sh'] },
          expect: admitted,
        },
        {
          name: 'evict',
          operation: 'CREATE',
          resource: 'pods',
          subresource: 'eviction',
          existing: [pod()],
          object: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web', namespace: 'shop' } },
          expect: admitted,
        },
        { name: 'create without dry run', dryRun: false, object: configMap('a'), expect: admitted },
        { name: 'create once more', dryRun: false, object: configMap('a'), expect: admitted },
      ],
    });
    expect(output).not.toContain('✗');
    expect(output).toMatch(/13 tests: 13 passed, 0 failed$/);
  });

  it('are authorized by roles among the existing objects', async () => {
    const { output } = await runTests({
      existing: [{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'none', namespace: 'default' }, rules: [] }],
      tests: [
        { name: 'an administrator', object: configMap('a'), expect: admitted },
        { name: 'a user', user: { name: 'ali' }, object: configMap('a'), expect: { verdict: 'forbidden', code: 403 } },
      ],
    });
    expect(output).toMatch(/2 passed, 0 failed$/);
  });

  it('are played for custom resources', async () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        names: { kind: 'Widget', plural: 'widgets' },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer', default: 3, maximum: 5 } } } },
          },
        ],
      },
    };
    const widget = (size?: number): object => ({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'a' },
      ...(size && { size }),
    });
    const { output } = await runTests({
      existing: [definition],
      tests: [
        { name: 'defaults', object: widget(), expect: { ...admitted, object: { size: 3 } } },
        { name: 'too large', oldObject: widget(1), object: widget(6), expect: { verdict: 'invalid', code: 422 } },
      ],
    });
    expect(output).toMatch(/2 passed, 0 failed$/);
  });
});

describe('the report', () => {
  const tests = [
    { name: 'fine', object: configMap('a'), expect: admitted },
    {
      name: 'wrong in <all> ways',
      object: pod({ priorityClassName: 'none' }),
      expect: { verdict: 'denied', by: 'Priority', code: 403, message: '/^priority/', warnings: ['old'], patch: { Prio: [] } },
    },
    {
      name: 'another object',
      object: configMap('a', { data: { b: 'c' } }),
      expect: {
        ...admitted,
        object: { data: { b: 'd', e: null }, metadata: { labels: { x: 'z' } } },
        patch: { NamespaceLifecycle: [], MutatingAdmissionPolicy: [] },
      },
    },
    { name: 'a broken fixture', existing: [configMap('b', { date: {} })], object: configMap('a'), expect: admitted },
  ];

  it('reports the differences', async () => {
    const { code, output } = await runTests({ tests });
    expect(code).toBe(1);
    expect(output).toBe(`tests.yaml
  ✓ fine
  ✗ wrong in <all> ways (tests.yaml:12)
      message: expected /^priority/, got "pods \\"web\\" is forbidden: no PriorityClass with name none was found"
      warnings: expected old, got none
      patch: Prio is not called
  ✗ another object (tests.yaml:33)
      object: data.b: expected "d", got "c"
      object: metadata.labels: expected {"x":"z"}, got nothing
  ✗ a broken fixture (tests.yaml:53)
      not played: ConfigMap b was not created: ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "date"

4 tests: 1 passed, 3 failed`);
  });

  it('has traces on demand, and a selection of tests', async () => {
    const { code, output } = await runTests({ tests }, '--run', '^wrong', '--trace');
    expect(code).toBe(1);
    expect(output).toMatch(/Priority: denied: pods "web" is forbidden: no PriorityClass/);
    expect(output).toMatch(/\n1 test: 0 passed, 1 failed$/);
  });

  it('is written in the form of JUnit', async () => {
    const report = join(folder, 'junit.xml');
    await runTests({ metadata: { name: 'policies' }, tests }, '--junit', report);
    const written = await readFile(report, 'utf8');
    for (const schema of [jenkinsSchema, windyRoadSchema]) expect(violations(written, schema)).toEqual([]);
    const xml = plain(written)
      .replaceAll(/time="[\d.]+"/g, 'time="0"')
      .replaceAll(/timestamp="[\d:T-]+" hostname="[^"]+"/g, 'timestamp="now" hostname="here"');
    expect(xml).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite id="0" package="tests.yaml" name="policies" timestamp="now" hostname="here" tests="4" failures="2" errors="1" time="0">
    <properties>
      <property name="file" value="tests.yaml"/>
    </properties>
    <testcase name="fine" classname="policies" time="0"/>
    <testcase name="wrong in &lt;all&gt; ways" classname="policies" time="0">
      <failure type="difference" message="message: expected /^priority/, got &quot;pods \\&quot;web\\&quot; is forbidden: no PriorityClass with name none was found&quot;">tests.yaml:14&#10;message: expected /^priority/, got &quot;pods \\&quot;web\\&quot; is forbidden: no PriorityClass with name none was found&quot;&#10;warnings: expected old, got none&#10;patch: Prio is not called</failure>
    </testcase>
    <testcase name="another object" classname="policies" time="0">
      <failure type="difference" message="object: data.b: expected &quot;d&quot;, got &quot;c&quot;">tests.yaml:35&#10;object: data.b: expected &quot;d&quot;, got &quot;c&quot;&#10;object: metadata.labels: expected {&quot;x&quot;:&quot;z&quot;}, got nothing</failure>
    </testcase>
    <testcase name="a broken fixture" classname="policies" time="0">
      <error type="not played" message="not played: ConfigMap b was not created: ConfigMap in version &quot;v1&quot; cannot be handled as a ConfigMap: strict decoding error: unknown field &quot;date&quot;">tests.yaml:55&#10;not played: ConfigMap b was not created: ConfigMap in version &quot;v1&quot; cannot be handled as a ConfigMap: strict decoding error: unknown field &quot;date&quot;</error>
    </testcase>
    <system-out/>
    <system-err/>
  </testsuite>
</testsuites>
`);
  });

  it('the check by the schemas finds what they forbid', () => {
    const wrong = '<testsuites><testsuite name="a" tests="1"><testcase name="b" line="3">c</testcase></testsuite></testsuites>';
    expect(violations(wrong, jenkinsSchema)).toEqual([
      'testsuite without failures',
      'testsuite without errors',
      'testcase with line="3"',
      'testcase with text',
    ]);
    expect(violations(wrong, windyRoadSchema)).toContain('testsuite with the elements testcase ');
  });

  it.each([
    {
      name: 'wrong test files',
      members: { tests: [{ name: 'a', object: configMap('a'), expects: {} }] },
      args: [],
      says: /tests\.yaml:\d+: tests\[0\]\.expects: .*unknown field/,
    },
    {
      name: 'invalid existing objects',
      members: { existing: [configMap('b', { date: {} })], tests },
      args: [],
      says: /existing: ConfigMap b was not created/,
    },
    {
      name: 'a package that is missing',
      members: { plugins: [{ package: './none' }], tests },
      args: [],
      says: /plugin package \.\/none: /,
    },
    {
      name: 'a wrong plugins list',
      members: { plugins: [{ packages: './none' }], tests },
      args: [],
      says: /tests\.yaml: plugins\[0\]\.packages is unknown/,
    },
    { name: 'a selection of nothing', members: { tests }, args: ['--run', 'zzz'], says: /no test has a name that matches \/zzz\// },
  ])('is an error that exits with 2 for $name', async ({ members, args, says }) => {
    const { code, errors } = await runTests(members, ...args);
    expect(code).toBe(2);
    expect(errors).toMatch(says);
  });
});
