import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findReference } from './find-reference.mjs';

/** The version that docs/etcd.md tells of. */
export const kineVersion = 'v0.13.14';

/** Where `getServers` puts the one that it builds. */
export const kineFolder = join(homedir(), '.cache/kubenest/kine', kineVersion);

/** kine, which speaks etcd's protocol as far as Kubernetes needs it: on the PATH, or the one that was built; undefined if there is none. */
export function findKine() {
  const built = join(kineFolder, 'kine');
  return findReference('kine') ?? (existsSync(built) ? built : undefined);
}
