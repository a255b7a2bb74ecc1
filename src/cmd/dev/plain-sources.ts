import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Build } from './transpiler.ts';

/** Folders of a package that are not its sources. */
export function isAside(name: string): boolean {
  return name === 'node_modules' || name.startsWith('.');
}

/** The sources of a package in JavaScript, which need no build. */
export class PlainSources {
  #known = new Map<string, string>();

  constructor(private readonly folder: string) {}

  /** Returns the number of files that changed since the previous call. */
  build(): Build {
    const files = readdirSync(this.folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && /\.([cm]?js|json)$/.test(entry.name))
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((file) => !relative(this.folder, file).split(sep).some(isAside));
    const present = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
    const changed = [...new Set([...present.keys(), ...this.#known.keys()])].filter((file) => present.get(file) !== this.#known.get(file));
    this.#known = present;
    return { written: changed.length };
  }
}
