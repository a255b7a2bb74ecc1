import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { packageFolder } from '#cmd/package-folder';

interface HiddenLockFile {
  readonly packages?: Readonly<Record<string, { readonly version?: string; readonly resolved?: string } | undefined>>;
}

/**
 * Returns how a package in a folder depends on the running kubenest: by its version if it comes from a registry, else by the archive that
 * it was installed from, or by its folder. npm records the source of a package in node_modules/.package-lock.json.
 */
export async function ownDependency(folder: string, own = packageFolder()): Promise<string> {
  const from = (path: string): string => `file:${relative(resolve(folder), path)}`;
  const installed = join(own, '..', '.package-lock.json');
  if (!existsSync(installed)) return from(own);
  const { packages } = JSON.parse(await readFile(installed, 'utf8')) as HiddenLockFile;
  const { version, resolved = '' } = packages?.['node_modules/kubenest'] ?? {};
  if (version !== undefined && /^https?:/.test(resolved)) return version;
  // The path is relative to the folder of the project.
  const archive = resolved.startsWith('file:') ? resolve(own, '../..', resolved.slice('file:'.length)) : undefined;
  return from(archive !== undefined && existsSync(archive) ? archive : own);
}
