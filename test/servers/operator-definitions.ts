import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findGoModule } from './go-modules.ts';
import projects from './operator-modules.json' with { type: 'json' };

/** A file with one definition from an operator's project. */
export interface DefinitionFile {
  readonly name: string;
  readonly path: string;
}

/** Returns the definitions of the projects of operator-modules.json in Go's module cache, where the set-up of the tests puts them. */
export function operatorDefinitions(): DefinitionFile[] {
  return projects.flatMap(({ module, folder }) => {
    const root = findGoModule(module);
    if (root === undefined) return [];
    return readdirSync(join(root, folder))
      .map((file) => join(root, folder, file))
      .filter((path) => path.endsWith('.yaml') && /^kind: CustomResourceDefinition$/m.test(readFileSync(path, 'utf8')))
      .map((path) => ({ name: basename(path, '.yaml'), path }));
  });
}
