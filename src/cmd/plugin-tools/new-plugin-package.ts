import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { sdkVersion } from '#apiserver/plugins/plugin-package';
import { ownDependency } from './own-dependency.ts';

/** Version of the compiler that generates the SDK's declarations. */
const typescript = '6.0.3';

/** Sort of the contribution of a new package. */
export type NewContribution = 'admission plugin' | 'controller';

/**
 * Writes a package with one contribution, its test, and a configuration file that loads it. The folder must be empty or not exist. Returns
 * the paths of the files, relative to the folder. Throws an Error for an invalid package name.
 */
export async function newPluginPackage(
  name: string,
  folder: string,
  contribution: NewContribution = 'admission plugin',
): Promise<string[]> {
  if (!/^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/.test(name))
    throw new Error(`${JSON.stringify(name)} is not a valid package name: use lower-case letters, digits, dashes; @scope/name`);
  const present = await readdir(folder).catch(() => []);
  if (present.length > 0) throw new Error(`${folder} is not empty`);
  const files = templateOf(name, await ownDependency(folder), contribution);
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return Object.keys(files);
}

/** Vitest reads `experimentalDecorators` of tsconfig.json only for files in its `include`. */
const vitestConfig = `// For tests with vitest (npm install --save-dev vitest); npm test needs none.
export default {
  oxc: { decorator: { legacy: true } },
  test: { include: ['{src,test}/**/*.test.ts'] },
};
`;

function templateOf(name: string, kubenest: string, contribution: NewContribution): Record<string, string> {
  const base = name.replace(/^@.*\//, '').replace(/[._]/g, '-');
  const type = base.replace(/(^|-+)(.)/g, (_, _dash, letter: string) => letter.toUpperCase()).replace(/^(\d)/, 'Plugin$1');
  const contributed = contribution === 'controller' ? base : type;
  const unitTests = 'node --enable-source-maps --test dist/*.test.js';
  const tests = contribution === 'controller' ? unitTests : `${unitTests} && kubenest test tests`;
  const manifest = {
    name,
    version: '0.1.0',
    type: 'module',
    engines: { node: '>=24.18.1' },
    // For other packages and tests that import it; the server loads `kubenest.plugins`.
    exports: './dist/index.js',
    files: ['dist', '!dist/*.test.js', '!dist/*.test.js.map', '!dist/*.test.d.ts'],
    kubenest: { sdk: `^${sdkVersion.split('.')[0]}`, plugins: ['./dist/index.js'] },
    // `kubenest` runs first, because it reports a Node version that is too old.
    scripts: { build: 'tsc', test: `kubenest version && tsc && ${tests}`, prepack: 'tsc' },
    devDependencies: { '@types/node': '24.19.2', kubenest, typescript },
    peerDependencies: { kubenest: '*' },
    peerDependenciesMeta: { kubenest: { optional: true } },
  };
  const compilerOptions = {
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    verbatimModuleSyntax: true,
    experimentalDecorators: true,
    rewriteRelativeImportExtensions: true,
    skipLibCheck: true,
    sourceMap: true,
    declaration: true,
    rootDir: 'src',
    outDir: 'dist',
  };
  // Breakpoints in the sources: `kubenest dev --inspect`, then attach; tests are launched by the debugger.
  const launch = {
    version: '0.2.0',
    configurations: [
      { name: 'attach to kubenest dev --inspect', type: 'node', request: 'attach', port: 9229, restart: true, sourceMaps: true },
      {
        name: 'tests',
        type: 'node',
        request: 'launch',
        runtimeExecutable: 'npm',
        runtimeArgs: ['test'],
        sourceMaps: true,
        outFiles: [`\${workspaceFolder}/dist/**/*.js`],
      },
    ],
  };
  const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
  return {
    'package.json': json(manifest),
    'tsconfig.json': json({ compilerOptions, include: ['src'] }),
    '.vscode/launch.json': json(launch),
    'vitest.config.js': vitestConfig,
    '.gitignore': 'node_modules/\ndist/\n.kubenest/\n',
    'kubenest.yaml': `apiVersion: kubenest.dev/v1alpha1
kind: ServerConfiguration
plugins:
  - package: ./
    configuration:
      ${stringify(contributed).trimEnd()}: { labels: [team] }
`,
    'src/index.ts': `import { contribute } from 'kubenest/sdk';
import { ${type} } from './${base}.ts';

export default contribute(${type});
`,
    ...(contribution === 'controller' ? controllerSources(base, type) : admissionSources(base, type)),
  };
}

function admissionSources(base: string, type: string): Record<string, string> {
  return {
    [`src/${base}.ts`]: `import { deny, policy, when } from 'kubenest/sdk';
import { IsArray, IsString } from 'kubenest/sdk/configuration';
import { Pod } from 'kubenest/kinds';

export class ${type}Configuration {
  @IsArray()
  @IsString({ each: true })
  labels: string[] = ['team'];
}

/** Denies pods without certain labels. */
export const ${type} = policy(
  { name: '${type}', configuration: ${type}Configuration },
  when(Pod)
    .created()
    .validate(({ metadata: { labels = {} } }, request, { configuration }) => {
      const missing = configuration.labels.filter((label) => !Object.hasOwn(labels, label));
      if (missing.length > 0) deny(request, \`missing labels: \${missing.join(', ')}\`);
    }),
);
`,
    [`src/${base}.test.ts`]: `import { admissionTable } from 'kubenest/sdk/testing';
import type { Pod } from 'kubenest/kinds';
import { ${type} } from './${base}.ts';

const pod = (labels: Record<string, string>): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', labels },
  spec: { containers: [{ name: 'web', image: 'nginx' }] },
});

admissionTable(
  ${type},
  [
    { name: 'a pod with the label', object: pod({ team: 'a' }) },
    { name: 'a pod without it', object: pod({}), denied: /missing labels: team/ },
  ],
  { configuration: { labels: ['team'] } },
);
`,
    [`tests/${base}.yaml`]: `apiVersion: kubenest.dev/v1alpha1
kind: PolicyTest
metadata: { name: ${base} }
config: ../kubenest.yaml
tests:
  - name: a pod with the label
    object: { file: pod.yaml, merge: { metadata: { labels: { team: a } } } }
    expect: { verdict: admitted }
  - name: a pod without it
    object: { file: pod.yaml }
    expect: { verdict: denied, by: ${type}, message: "missing labels: team" }
`,
    'tests/pod.yaml': `apiVersion: v1
kind: Pod
metadata: { name: web }
spec:
  containers: [{ name: web, image: nginx }]
`,
  };
}

function controllerSources(base: string, type: string): Record<string, string> {
  return {
    [`src/${base}.ts`]: `import {
  Configuration,
  Controller,
  ControllerClient,
  inject,
  isControlledBy,
  newControllerReference,
  type ReconcileRequest,
  type SharedInformer,
  SharedInformers,
} from 'kubenest/sdk';
import { IsArray, IsString } from 'kubenest/sdk/configuration';
import { ConfigMap, Namespace } from 'kubenest/kinds';

const name = 'labels';

export class ${type}Configuration {
  @IsArray()
  @IsString({ each: true })
  labels: string[] = ['team'];
}

/** Keeps the values of certain labels of each namespace in a ConfigMap of the namespace. */
@Controller({
  name: '${base}',
  configuration: ${type}Configuration,
  for: Namespace,
  owns: [ConfigMap],
  rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'patch'] }],
})
export class ${type} {
  readonly #labels: readonly string[];
  readonly #namespaces: SharedInformer<Namespace>;
  readonly #configMaps: SharedInformer<ConfigMap>;

  constructor(
    @inject(Configuration) { labels }: ${type}Configuration,
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#labels = labels;
    this.#namespaces = informers.for(Namespace);
    this.#configMaps = informers.for(ConfigMap);
  }

  async reconcile(request: ReconcileRequest): Promise<void> {
    const namespace = this.#namespaces.get('', request.name);
    if (!namespace || namespace.metadata.deletionTimestamp) return;
    const present = this.#configMaps.get(request.name, name);
    const labels = namespace.metadata.labels ?? {};
    const data = Object.fromEntries(this.#labels.map((label) => [label, labels[label] ?? '']));
    const isRight = present && isControlledBy(present, namespace) && this.#labels.every((label) => present.data?.[label] === data[label]);
    if (isRight) return;
    await this.client.apply(ConfigMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: request.name, name, ownerReferences: [newControllerReference(namespace, Namespace)] },
      data,
    });
  }
}
`,
    [`src/${base}.test.ts`]: `import { reconcileTable } from 'kubenest/sdk/testing';
import type { Namespace } from 'kubenest/kinds';
import { ${type} } from './${base}.ts';

const shop: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', uid: 'u', labels: { team: 'a' } } };

reconcileTable(${type}, [
  {
    name: 'keeps the labels in a ConfigMap',
    objects: { namespaces: [shop] },
    request: 'shop',
    writes: ['apply configmaps shop/labels'],
    want: { configmaps: { 'shop/labels': { data: { team: 'a' }, metadata: { ownerReferences: [{ name: 'shop', uid: 'u' }] } } } },
  },
  { name: 'ignores a namespace that is gone', request: 'gone' },
]);
`,
  };
}
