import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

type TypeScript = typeof import('typescript');

/** Result of a build: the number of written files, or the problems of the sources. */
export type Build = { readonly written: number } | { readonly problems: string };

/**
 * Builds a package of plugins with its own TypeScript and tsconfig.json, file by file. It does not check types, which is left to `npm test`
 * and the editor. Unchanged files are not written again.
 */
export class Transpiler {
  readonly #folder: string;
  readonly #typescript: TypeScript;
  readonly #known = new Map<string, string>();

  /** Throws an Error if the package lacks TypeScript or the folder src. */
  constructor(folder: string) {
    this.#folder = folder;
    try {
      this.#typescript = createRequire(join(folder, 'package.json'))('typescript') as TypeScript;
    } catch (cause) {
      throw new Error(`${folder} has no TypeScript: is it installed?`, { cause });
    }
    if (!existsSync(join(folder, 'src'))) throw new Error(`${folder} has no src`);
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
        // The transpilation of a single file does not read package.json; a package of plugins consists of ES modules.
        compilerOptions: { ...options, module: ts.ModuleKind.ESNext, sourceMap: false, inlineSourceMap: true },
        fileName: file,
        reportDiagnostics: true,
      });
      if (diagnostics.length > 0) return { problems: this.#format(diagnostics) };
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

  #format(diagnostics: readonly import('typescript').Diagnostic[]): string {
    const ts = this.#typescript;
    return ts.formatDiagnostics(diagnostics, {
      getCurrentDirectory: () => this.#folder,
      getCanonicalFileName: (name) => name,
      getNewLine: () => '\n',
    });
  }
}
