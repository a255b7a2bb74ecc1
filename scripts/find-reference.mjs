import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/**
 * Returns the path of a reference program (`etcd`, `kube-apiserver`): from the folder of ../shared/reference or the PATH;
 * undefined if there is none.
 */
export function findReference(name) {
  const built = process.env.REFERENCE_BIN ?? join(homedir(), '.cache/reference/bin');
  const folders = [built, ...(process.env.PATH ?? '').split(delimiter)];
  const folder = folders.find((one) => one !== '' && existsSync(join(one, name)));
  return folder === undefined ? undefined : join(folder, name);
}
