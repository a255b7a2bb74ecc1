import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { packageFolder } from '#cmd/package-folder';

/**
 * Creates the folder from which envtest takes its binaries (KUBEBUILDER_ASSETS), and returns it. It contains `kube-apiserver`, `etcd`, and
 * `kubectl` if the path has one. Each installation has its own folder in the user's cache. Its files are written atomically, so that
 * several processes can create it concurrently.
 */
export async function makeAssetsFolder(): Promise<string> {
  const command = join(packageFolder(), 'bin/kubenest');
  const folder = join(cacheFolder(), 'kubenest/envtest', createHash('sha256').update(command).digest('hex').slice(0, 16));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of ['kube-apiserver', 'etcd'])
    await replace(folder, name, async (file) => {
      await writeFile(file, launcher(command, name));
      await chmod(file, 0o755);
    });
  const kubectl = findKubectl(folder);
  if (kubectl !== undefined) await replace(folder, 'kubectl', (file) => symlink(kubectl, file));
  else await rm(join(folder, 'kubectl'), { force: true });
  return folder;
}

/** Returns a launcher that uses the Node of this process, because the path of the caller may contain another Node or none. */
function launcher(command: string, name: string): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  return `#!/bin/sh
PATH=${quoted(dirname(process.execPath))}:$PATH
export PATH
exec ${quoted(command)} envtest ${name} "$@"
`;
}

async function replace(folder: string, name: string, write: (file: string) => Promise<void>): Promise<void> {
  const draft = join(folder, `.${name}-${process.pid}`);
  await rm(draft, { force: true });
  await write(draft);
  await rename(draft, join(folder, name));
}

function findKubectl(own: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '' && folder !== own);
  const folder = folders.find((one) => existsSync(join(one, 'kubectl')));
  return folder === undefined ? undefined : realpathSync(join(folder, 'kubectl'));
}

function cacheFolder(): string {
  return process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
}
