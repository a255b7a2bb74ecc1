/** Reads the files of a manifest folder. Upstream: apiserver/pkg/admission/plugin/manifest/{loader,validation}.go. */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, isAbsolute, join } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { forbidden, invalid, fieldPath } from '#apimachinery/validation/field';
import type { FeatureGates } from '#apiserver/base/feature-gates';

/** One YAML or JSON document with the name of its file. */
export interface ManifestDocument {
  readonly file: string;
  readonly bytes: Buffer;
}

export interface ManifestFiles {
  readonly folder: string;
  /** Documents in the order of file names and of their positions, without empty ones. */
  readonly documents: readonly ManifestDocument[];
  /** Hash of all documents: `sha256:…`; empty without documents. */
  readonly hash: string;
}

const extensions = new Set(['.yaml', '.yml', '.json']);
/** A line that separates documents. */
const separator = /^---[^\S\n]*$/m;

/** Validates a `staticManifestsDir`. Rejects with an Error in upstream's words. */
export async function checkManifestFolder(folder: string, features: FeatureGates): Promise<void> {
  const path = fieldPath('staticManifestsDir');
  const refuse = (why: string): Error => new Error(String(invalid(path, folder, why)));
  if (!features.enabled('ManifestBasedAdmissionControlConfig')) {
    const why = 'staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled';
    throw new Error(String(forbidden(path, why)));
  }
  if (!isAbsolute(folder)) throw refuse('must be an absolute file path');
  const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    throw refuse(`unable to read: ${systemErrorText('stat', folder, error)}`);
  });
  if (!found.isDirectory()) throw refuse('must be a directory');
}

/** Reads the files of a folder, without subfolders. Rejects with an Error in upstream's words. */
export async function readManifestFiles(folder: string): Promise<ManifestFiles> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`failed to read manifest directory ${JSON.stringify(folder)}: ${systemErrorText('open', folder, error)}`);
  });
  const names = entries.filter((entry) => !entry.isDirectory() && extensions.has(extname(entry.name).toLowerCase()));
  const documents: ManifestDocument[] = [];
  const hash = createHash('sha256');
  for (const file of names.map(({ name }) => join(folder, name)).sort()) {
    const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
      throw new Error(`failed to read file ${JSON.stringify(file)}: ${systemErrorText('open', file, error)}`);
    });
    if (bytes.length === 0) continue;
    hash.update(bytes).update('\0');
    for (const text of bytes.toString('utf8').split(separator)) {
      if (text.trim() !== '') documents.push({ file, bytes: Buffer.from(text.trim()) });
    }
  }
  return { folder, documents, hash: documents.length > 0 ? `sha256:${hash.digest('hex')}` : '' };
}

/** Returns Go's text of a failed system call. */
function systemErrorText(call: string, path: string, { errno, message }: NodeJS.ErrnoException): string {
  return `${call} ${path}: ${errno === undefined ? message : getSystemErrorMessage(errno)}`;
}
