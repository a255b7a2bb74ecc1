import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { findReference } from '../../scripts/find-reference.mjs';
import { largeDefinitions } from '../integration/large-definitions.ts';
import { operatorDefinitions } from '../servers/operator-definitions.ts';

const kubectlPath = findReference('kubectl');
const shipped = operatorDefinitions();
const run = promisify(execFile);
/** Maximum size of the last-applied annotation. */
const annotationBytes = 200_000;

describe.skipIf(kubectlPath === undefined)(kubectlPath ? 'kubectl installs' : 'kubectl is not there: it would install', () => {
  let cluster: TestCluster;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kubenest-definitions-'));
    cluster = await startTestCluster({ listen: true });
    writeFileSync(join(folder, 'kubeconfig'), cluster.kubeconfig());
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });
  const kubectl = async (...args: string[]): Promise<string> =>
    (await run(kubectlPath as string, args, { env: { ...process.env, HOME: folder, KUBECONFIG: join(folder, 'kubeconfig') } })).stdout;

  async function install(path: string): Promise<void> {
    expect(await kubectl('apply', '--server-side', '-f', path)).toMatch(/ serverside-applied\n$/);
    expect(await kubectl('apply', '--server-side', '-f', path)).toMatch(/ serverside-applied\n$/);
    await kubectl('wait', '--for=condition=Established', '--timeout=20s', '-f', path);
    const conditions = await kubectl('get', '-f', path, '-o', 'jsonpath={.status.conditions[*].type}={.status.conditions[*].status}');
    expect(conditions).toMatch(/^NamesAccepted Established(?: KubernetesAPIApprovalPolicyConformant)?=True True(?: True)?$/);
  }

  it.each(largeDefinitions('kubectl.test.dev'))('$definition.metadata.name and an object of it', async ({ definition, object }) => {
    const [crd, file] = [join(folder, 'crd.json'), join(folder, 'object.json')];
    writeFileSync(crd, JSON.stringify(definition));
    writeFileSync(file, JSON.stringify(object));
    await install(crd);
    for (const flags of [[], ['--server-side', '--force-conflicts']]) await kubectl('apply', ...flags, '-f', file);
    expect(await kubectl('diff', '-f', file)).toBe('');
    expect(await kubectl('explain', `${definition['spec'].names.plural}.spec.items.name`)).toContain('name <string>');
  });

  it.each(shipped)('$name', async ({ path }) => {
    if (statSync(path).size < annotationBytes) {
      await kubectl('apply', '-f', path);
      await kubectl('delete', '-f', path);
    }
    await install(path);
  });
  if (shipped.length === 0)
    it("definitions of projects, if they are in Go's module cache", ({ skip }) => skip('none of them is in the module cache'));
});
