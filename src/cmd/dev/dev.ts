import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { readText } from '#apiserver/base/system-error';
import { isAside, PlainSources } from './plain-sources.ts';
import { Servers } from './servers.ts';
import { Transpiler } from './transpiler.ts';
import { watchTree } from './watch-tree.ts';

export interface DevOptions {
  /** Folders of the packages under development. */
  readonly plugins: readonly string[];
  /** Path of the ServerConfiguration; undefined: `kubenest.yaml` of the first package, or a generated one with all packages. */
  readonly config?: string | undefined;
  /** Flags of the server. */
  readonly flags: readonly string[];
  /** Port of the inspector, for debuggers; undefined: none. */
  readonly inspect?: number | undefined;
  /**
   * True: the traces of all writes are printed. False: only of those that an admission plugin of the packages under development handled.
   */
  readonly allTraces?: boolean | undefined;
  /** Ends the server. */
  readonly signal: AbortSignal;
  log(text: string): void;
}

/** Delay that combines the several writes in which an editor saves a file. */
const settleMs = 30;

/**
 * Runs a server with packages under development: builds them, and restarts the server after each change of their sources or of the
 * configuration. Stored objects are kept in `.kubenest` of the first package. The next server is loaded while the previous one still
 * serves, so that a restart takes a fraction of a second. Resolves when the signal aborts. Problems of the sources, the configuration and
 * the constructors are logged, and the last working server continues.
 */
export async function dev({ plugins, config, flags, inspect, allTraces = false, signal, log }: DevOptions): Promise<void> {
  const folders = plugins.map((folder) => resolve(folder));
  const [first = ''] = folders;
  // A package without a configuration of TypeScript is in JavaScript.
  const isPlain = (folder: string): boolean => !existsSync(join(folder, 'tsconfig.json'));
  const sources = folders.map((folder) => (isPlain(folder) ? new PlainSources(folder) : new Transpiler(folder)));
  await using configuration = await configurationOf(config, folders);
  const args = [`--config=${configuration.file}`, `--data-dir=${join(first, '.kubenest')}`, '--request-traces=100', ...flags];
  const traced = allTraces ? 'all' : await Promise.all(folders.map(packageNameOf));
  const servers = new Servers(args, { inspect, traced }, log);

  let lastSettings: string | undefined;
  const rebuild = async (isFirst: boolean): Promise<void> => {
    const began = performance.now();
    let written = 0;
    for (const source of sources) {
      const build = await source.build();
      if ('problems' in build) return log(build.problems);
      written += build.written;
    }
    const settings = await readText(configuration.file);
    // Editors touch files without changing them.
    if (written === 0 && settings === lastSettings) return;
    lastSettings = settings;
    const started = await servers.replace();
    if (started === 'kept') return log('the previous server continues: correct the problem and save');
    if (started === undefined) return log('the server did not start: correct the problem and save');
    log(isFirst ? started : `restarted with the changes in ${Math.round(performance.now() - began)} ms`);
  };
  const changes = new Changes(() => rebuild(false));
  using watching = new DisposableStack();
  for (const folder of folders) watching.use(watchTree(isPlain(folder) ? folder : join(folder, 'src'), () => changes.come(), isAside));
  // The folder is watched, because editors replace the file.
  const settings = watch(dirname(configuration.file), (_, name) => {
    if (name === basename(configuration.file)) changes.come();
  });
  watching.defer(() => settings.close());
  await rebuild(true);
  if (!signal.aborted) await once(signal, 'abort');
  await changes[Symbol.asyncDispose]();
  await servers.stop();
}

/** Returns the name of the package in a folder. */
async function packageNameOf(folder: string): Promise<string> {
  return (JSON.parse(await readText(join(folder, 'package.json'))) as { readonly name: string }).name;
}

async function configurationOf(file: string | undefined, folders: readonly string[]): Promise<AsyncDisposable & { readonly file: string }> {
  const own = join(folders[0] as string, 'kubenest.yaml');
  const found = file ?? (existsSync(own) ? own : undefined);
  if (found !== undefined) return { file: resolve(found), [Symbol.asyncDispose]: () => Promise.resolve() };
  const folder = await mkdtemp(join(tmpdir(), 'kubenest-dev-'));
  const made = join(folder, 'kubenest.yaml');
  const packages = folders.map((one) => ({ package: one }));
  await writeFile(made, stringify({ apiVersion: 'kubenest.dev/v1alpha1', kind: 'ServerConfiguration', plugins: packages }));
  return { file: made, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** Runs the work once for changes that occur together, and again for changes during the work. */
class Changes implements AsyncDisposable {
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> | undefined;

  constructor(readonly work: () => Promise<void>) {}

  come(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#working = (this.#working ?? Promise.resolve()).then(this.work);
    }, settleMs);
  }

  /** Resolves when running work has finished. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    await this.#working;
  }
}
