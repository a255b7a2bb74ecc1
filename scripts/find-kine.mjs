import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findReference } from './find-reference.mjs';

/** The version that docs/guide/etcd.md describes. */
export const kineVersion = 'v0.13.14';

/** Folder in which `getServers` builds it. */
export const kineFolder = join(homedir(), '.cache/kubenest/kine', kineVersion);

/**
 * Returns the path of kine, which implements the part of etcd's protocol that Kubernetes uses: from the PATH, or the built
 * one; undefined if there is none.
 */
export function findKine() {
  const built = join(kineFolder, 'kine');
  return findReference('kine') ?? (existsSync(built) ? built : undefined);
}
