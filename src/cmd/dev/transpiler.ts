import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

type TypeScript = typeof import('typescript');

/** What a build came to: which files it wrote, or what is wrong with the sources. */
export type Build = { readonly written: number } | { readonly problems: string };

/**
 * Builds a package of plugins by its own TypeScript and tsconfig.json, file by file and without checking types: that is for
 * `npm test` and the editor. What was not changed is not written again.
 */
export class Transpiler {
  readonly #folder: string;
  readonly #typescript: TypeScript;
  readonly #known = new Map<string, string>();

  /** Throws an Error where the package has no TypeScript or no tsconfig.json, or no folder src. */
  constructor(folder: string) {
    this.#folder = folder;
    try {
      this.#typescript = createRequire(join(folder, 'package.json'))('typescript') as TypeScript;
    } catch (cause) {
      throw new Error(`${folder} has no TypeScript: is it installed?`, { cause });
    }
    for (const needed of ['tsconfig.json', 'src']) if (!existsSync(join(folder, needed))) throw new Error(`${folder} has no ${needed}`);
  }

  async build(): Promise<Build> {
    const ts = this.#typescript;
    const { options, fileNames } = this.#configuration();
    const { rootDir = this.#folder, outDir = this.#folder } = options;
    let written = 0;
    for (const file of fileNames.filter((name) => !name.endsWith('.d.ts'))) {
      const source = ts.sys.readFile(file) ?? '';
      if (this.#known.get(file) === source) continue;
      const { outputText, diagnostics = [] } = ts.transpileModule(source, {
        // A file alone does not know of what type its package is; a package of plugins has ES modules.
        compilerOptions: { ...options, module: ts.ModuleKind.ESNext, sourceMap: false, inlineSourceMap: true },
        fileName: file,
        reportDiagnostics: true,
      });
      if (diagnostics.length > 0) return { problems: this.#told(diagnostics) };
      const target = join(outDir, file.slice(rootDir.length)).replace(/\.ts$/, '.js');
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, outputText);
      this.#known.set(file, source);
      written += 1;
    }
    return { written };
  }

  #configuration(): import('typescript').ParsedCommandLine {
    const ts = this.#typescript;
    const { config } = ts.readConfigFile(join(this.#folder, 'tsconfig.json'), ts.sys.readFile) as { config: unknown };
    return ts.parseJsonConfigFileContent(config, ts.sys, this.#folder);
  }

  #told(diagnostics: readonly import('typescript').Diagnostic[]): string {
    const ts = this.#typescript;
    return ts.formatDiagnostics(diagnostics, {
      getCurrentDirectory: () => this.#folder,
      getCanonicalFileName: (name) => name,
      getNewLine: () => '\n',
    });
  }
}
