import { type ExecFileException, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { findKubectls } from './kubectls.ts';

const kubectls = findKubectls();
const manifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "registry.test/web:1", ports: [{containerPort: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`;
const widgetDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.dev}
spec:
  group: example.dev
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`;

if (kubectls.length === 0)
  it('requires kubectl on the PATH or in REFERENCE_BIN', ({ skip }) => {
    skip('no kubectl is installed');
  });

describe.each(kubectls)('kubectl $name', ({ path }) => {
  let cluster: TestCluster;
  let folder: string;
  beforeAll(async () => {
    cluster = await startTestCluster({ listen: true });
    folder = mkdtempSync(join(tmpdir(), 'kubenest-kubectl-'));
    writeFileSync(join(folder, 'config'), cluster.kubeconfig());
    writeFileSync(join(folder, 'web.yaml'), manifest);
    writeFileSync(join(folder, 'crd.yaml'), widgetDefinition);
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  const environment = () => ({ ...process.env, KUBECONFIG: join(folder, 'config'), HOME: folder, KUBE_EDITOR: 'sed -i s/web:2/web:3/' });
  /** Runs kubectl; rejects with its output if it fails. */
  const kubectl = (...args: string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      execFile(path, args, { env: environment(), cwd: folder }, (error, stdout, stderr) =>
        error ? reject(new Error(`kubectl ${args.join(' ')}: ${stderr}`)) : resolve(stdout),
      );
    });
  const exitCode = (...args: string[]): Promise<number> =>
    new Promise((resolve) => {
      execFile(path, args, { env: environment(), cwd: folder }, (error: ExecFileException | null) => resolve(Number(error?.code ?? 0)));
    });

  it('creates, gets, labels, annotates, replaces and deletes', async () => {
    await kubectl('create', 'namespace', 'work');
    await kubectl('create', 'configmap', 'settings', '--from-literal=color=blue', '-n', 'work');
    await kubectl('create', 'secret', 'generic', 'password', '--from-literal=word=pass', '-n', 'work');
    await kubectl('label', 'configmap', 'settings', 'tier=front', '-n', 'work');
    await kubectl('annotate', 'configmap', 'settings', 'note=it is blue', '-n', 'work');
    expect(await kubectl('get', 'configmaps', '-l', 'tier=front', '-n', 'work', '-o', 'name')).toBe('configmap/settings\n');
    const object = JSON.parse(await kubectl('get', 'configmap', 'settings', '-n', 'work', '-o', 'json')) as {
      data: object;
      metadata: { annotations: object };
    };
    expect(object).toMatchObject({ data: { color: 'blue' }, metadata: { annotations: { note: 'it is blue' } } });
    writeFileSync(join(folder, 'settings.json'), JSON.stringify({ ...object, data: { color: 'red' } }));
    await kubectl('replace', '-f', 'settings.json');
    expect(await kubectl('get', 'configmap', 'settings', '-n', 'work', '-o', 'jsonpath={.data.color}')).toBe('red');
    expect(await kubectl('get', 'secret', 'password', '-n', 'work', '-o', 'jsonpath={.data.word}')).toBe('cGFzcw==');
    await kubectl('delete', 'configmap', 'settings', '-n', 'work');
    await expect(kubectl('get', 'configmap', 'settings', '-n', 'work')).rejects.toThrow(/configmaps "settings" not found/);
  });

  it('applies, diffs, patches, edits, describes and waits', async () => {
    await kubectl('apply', '-f', 'web.yaml');
    expect(await exitCode('diff', '-f', 'web.yaml')).toBe(0);
    writeFileSync(join(folder, 'web.yaml'), manifest.replace('web:1', 'web:2'));
    expect(await exitCode('diff', '-f', 'web.yaml')).toBe(1);
    expect(await kubectl('apply', '-f', 'web.yaml')).toMatch(/deployment.apps\/web configured\nservice\/web unchanged/);
    await kubectl('edit', 'deployment', 'web');
    expect(await kubectl('get', 'deployment', 'web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}')).toBe(
      'registry.test/web:3',
    );
    await kubectl('patch', 'deployment', 'web', '-p', '{"spec":{"replicas":5}}');
    expect(await kubectl('get', 'deployment', 'web')).toMatch(/NAME\s+READY\s+UP-TO-DATE\s+AVAILABLE\s+AGE\nweb\s+0\/5/);
    expect(await kubectl('describe', 'deployment', 'web')).toMatch(/Replicas:\s+5 desired/);
    await kubectl(
      'patch',
      'deployment',
      'web',
      '--subresource=status',
      '--type=merge',
      '-p',
      '{"status":{"conditions":[{"type":"Available","status":"True"}]}}',
    );
    await kubectl('wait', 'deployment', 'web', '--for=condition=Available', '--timeout=10s');
    await kubectl('delete', '-f', 'web.yaml');
    await kubectl('wait', 'deployment', 'web', '--for=delete', '--timeout=10s');
  });

  it('applies server-side', async () => {
    writeFileSync(join(folder, 'applied.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {a: "1"}\n');
    await kubectl('apply', '--server-side', '-f', 'applied.yaml');
    await kubectl('apply', '--server-side', '-f', 'applied.yaml');
    writeFileSync(join(folder, 'applied.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {a: "2"}\n');
    await expect(kubectl('apply', '--server-side', '--field-manager=other', '-f', 'applied.yaml')).rejects.toThrow(/conflict/);
    await kubectl('apply', '--server-side', '--field-manager=other', '--force-conflicts', '-f', 'applied.yaml');
    expect(await kubectl('get', 'configmap', 'applied', '-o', 'jsonpath={.data.a}')).toBe('2');
  });

  it('lists API resources and versions', async () => {
    expect(await kubectl('api-versions')).toMatch(/^apps\/v1$/m);
    expect(await kubectl('api-resources')).toMatch(/^deployments\s+deploy\s+apps\/v1\s+true\s+Deployment$/m);
    expect(await kubectl('explain', 'deployment.spec.replicas')).toMatch(/FIELD: replicas <integer>/);
    expect(await kubectl('auth', 'can-i', 'create', 'pods')).toBe('yes\n');
    expect(await exitCode('auth', 'can-i', 'create', 'pods', '--as', 'nobody')).toBe(1);
    expect(await kubectl('version')).toMatch(/Server Version: v1\.36\.3/);
  });

  it('creates pods, nodes, roles and definitions', async () => {
    await kubectl('run', 'pod', '--image=registry.test/app:1');
    expect(await kubectl('get', 'pods')).toMatch(/pod\s+0\/1\s+Pending/);
    await kubectl('create', 'role', 'reader', '--verb=get', '--resource=pods');
    await kubectl('create', 'rolebinding', 'readers', '--role=reader', '--user=jane');
    expect(await kubectl('auth', 'can-i', 'get', 'pods', '--as', 'jane')).toBe('yes\n');
    await kubectl('create', '-f', 'crd.yaml');
    expect(await kubectl('get', 'crds', '-o', 'name')).toContain('widgets.example.dev');
    expect(await kubectl('events')).toBe('');
    await kubectl('delete', 'pod', 'pod', '--force');
  });

  it('watches', async () => {
    const watch = spawn(path, ['get', 'configmaps', '-w', '-o', 'name'], { env: environment(), cwd: folder });
    let seen = '';
    const named = new Promise<void>((resolve) =>
      watch.stdout.on('data', (chunk: Buffer) => {
        seen += chunk.toString();
        if (seen.includes('configmap/watched')) resolve();
      }),
    );
    await kubectl('create', 'configmap', 'watched');
    await named;
    watch.kill();
    expect(seen).toContain('configmap/watched');
  });
});
