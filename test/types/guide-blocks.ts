/** The TypeScript blocks of the guide as modules that the compiler checks. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const guide = join(import.meta.dirname, '../../docs/guide');

/** A block of the guide, with the text that it needs around it. */
interface Surroundings {
  readonly page: string;
  /** Text of the first line of the block. */
  readonly starts: string;
  readonly before?: string;
  readonly after?: string;
}

const widget = `import { apiGroup, contribute, defineResource, type KubeObject, type JsonSchemaProps } from 'kubenest/sdk';
interface Widget extends KubeObject { spec: { size: number }; approval?: object }
declare const schema: JsonSchemaProps;
`;

/** Module names with the block of each. A block that is not here fails a test. */
const blocks: Readonly<Record<string, Surroundings>> = {
  policy: { page: 'plugins', starts: 'import { deny, policy, setDefaults, warn, when }' },
  follows: {
    page: 'plugins',
    starts: 'policy(',
    before: "import { deny, policy, when } from 'kubenest/sdk';\nimport { Deployment, Namespace } from 'kubenest/kinds';\n",
  },
  class: {
    page: 'plugins',
    starts: 'import { AdmissionPlugin, type Attributes',
    before: "import { ReplicasConfiguration } from './policy.ts';\n",
  },
  contributions: { page: 'plugins', starts: 'import {\n  type AuditEvent' },
  widgets: { page: 'plugins', starts: 'const widgets = ', before: `${widget}import { nameColumn } from 'kubenest/sdk';\n` },
  subresources: {
    page: 'plugins',
    starts: '  subresources: {',
    before: `${widget}const restartSchema = schema;\nexport const widgets = defineResource<Widget>({ kind: 'Widget', resource: 'widgets', versions: [{ name: 'v1', schema }],\n`,
    after: '});\n',
  },
  estimates: {
    page: 'plugins',
    starts: 'const estimates = ',
    before: `import { defineResource, type KubeObject, type JsonSchemaProps, type UserInfo } from 'kubenest/sdk';
interface Estimate extends KubeObject { spec: object; status?: { price: number } }
declare const schema: JsonSchemaProps;
declare function priceOf(spec: object, user: UserInfo): number;
`,
    after: 'export default estimates;\n',
  },
  table: {
    page: 'plugins',
    starts: 'admissionTable(',
    before: `import { admissionTable, fakeInformers } from 'kubenest/sdk/testing';
import type { Deployment, Namespace } from 'kubenest/kinds';
import { replicas } from './policy.ts';
declare function deployment(spec: { replicas?: number }): Deployment;
declare const shop: Namespace;
`,
  },
  cluster: {
    page: 'testing',
    starts: 'import { startTestCluster }',
    before: "import { writeFileSync } from 'node:fs';\n",
    after: 'export { config, response };\n',
  },
  controller: {
    page: 'controllers',
    starts: '@Controller({',
    before: `import { Controller, ControllerClient, EventRecorder, inject, type KubeObject, type ReconcileRequest, type ReconcileResult, SharedInformers, type SharedInformer, Watches } from 'kubenest/sdk';
interface Team extends KubeObject { spec: { environments: string[] } }
`,
  },
  expectations: {
    page: 'controllers',
    starts: 'export class VaultController',
    before: `import { Clock, ControllerClient, Expectations, inject, type ReconcileRequest, SharedInformers, type SharedInformer } from 'kubenest/sdk';
import { Secret } from 'kubenest/kinds';
declare function ownerOf(secret: Secret): string;
declare function missingSecrets(key: string, present: readonly Secret[]): Secret[];
`,
  },
  schedule: {
    page: 'controllers',
    starts: '  /** Once a day',
    before: "import { Schedule } from 'kubenest/sdk';\nexport class Cleaner {\n",
    after: '}\n',
  },
  'controller-table': {
    page: 'controllers',
    starts: 'reconcileTable(',
    before: `import type { KubeObject } from 'kubenest/sdk';
import { reconcileTable } from 'kubenest/sdk/testing';
import { TeamController } from './controller.ts';
declare function team(spec: object): KubeObject;
`,
  },
};

/** Pages whose TypeScript is checked. */
const pages = ['plugins', 'testing', 'controllers'];

/** Writes the blocks to a folder, and returns the module names and the first lines of blocks that have none. */
export async function writeGuideBlocks(
  folder: string,
): Promise<{ readonly modules: readonly string[]; readonly unknown: readonly string[] }> {
  const unknown: string[] = [];
  const modules: string[] = [];
  for (const page of pages) {
    const text = await readFile(join(guide, `${page}.md`), 'utf8');
    for (const [, block = ''] of text.matchAll(/^```ts\n([\s\S]*?)^```/gm)) {
      const found = Object.entries(blocks).find(([, one]) => one.page === page && block.startsWith(one.starts));
      if (!found) {
        unknown.push(block.split('\n', 1)[0] ?? '');
        continue;
      }
      const [name, { before = '', after = '' }] = found;
      modules.push(name);
      // `…` stands for what a reader adds.
      const complete = block.replaceAll('{ … }', '{}').replaceAll(', …', '');
      await writeFile(join(folder, `${name}.ts`), `${before}${complete}${after}`);
    }
  }
  return { modules, unknown };
}
