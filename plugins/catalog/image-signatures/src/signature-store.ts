import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Informer } from 'kubenest/sdk';
import type { ConfigMap } from 'kubenest/types/core_v1';

/** The places of stored signatures. */
export interface SignaturePlaces {
  /** Folder with files whose names begin with the digest: `sha256-HEX.json`. */
  readonly folder: string | undefined;
  /** Namespace with ConfigMaps that have the digest as their name. */
  readonly namespace: string | undefined;
}

/**
 * Returns the texts that are stored for a digest: of a file, each line or the whole; of a ConfigMap, each value. Rejects if the folder
 * cannot be read.
 */
export async function storedSignatures(
  digest: string,
  { folder, namespace }: SignaturePlaces,
  configMaps: Informer<ConfigMap>,
): Promise<string[]> {
  const name = digest.replace(':', '-');
  const texts: string[] = [];
  if (namespace !== undefined) texts.push(...Object.values(configMaps.get(namespace, name)?.data ?? {}));
  if (folder !== undefined)
    for (const file of await readdir(folder))
      if (file === name || file.startsWith(`${name}.`)) texts.push(await readFile(join(folder, file), 'utf8'));
  return texts.flatMap(documentsOf);
}

/** Splits a text with a JSON document on each line. */
function documentsOf(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.every((line) => line.startsWith('{') && line.trimEnd().endsWith('}')) ? lines : [text];
}
