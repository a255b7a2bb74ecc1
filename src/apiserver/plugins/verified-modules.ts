import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type LoadHookSync, registerHooks, type ResolveHookSync } from 'node:module';
import { extname, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The files of packages whose integrity was verified. It can be sent to another thread. */
export interface VerifiedFiles {
  /** Real paths of the packages' folders. */
  readonly folders: readonly string[];
  /** Digest of each file by its real path. */
  readonly digests: ReadonlyMap<string, string>;
}

export function fileDigest(content: Buffer): string {
  return createHash('sha512').update(content).digest('base64');
}

const folders = new Set<string>();
const digests = new Map<string, string>();

/**
 * Restricts the imports of this thread, those of CommonJS included, from now on:
 *
 *     file of a verified folder           its content must have the digest
 *     another file, imported by such one  refused, unless it is part of `kubenest`
 *
 * The content that is compared is the content that is executed, so a file that changes after its verification is not executed. Native
 * addons (`.node`), which Node opens by itself, are compared immediately before.
 */
export function importOnly(files: VerifiedFiles): void {
  if (folders.size === 0) registerHooks({ resolve, load });
  for (const folder of files.folders) folders.add(folder);
  for (const [path, digest] of files.digests) digests.set(path, digest);
}

const resolve: ResolveHookSync = (specifier, context, next) => {
  const resolved = next(specifier, context);
  const path = pathOf(resolved.url);
  if (path === undefined) return resolved;
  if (isInVerifiedFolder(path)) {
    if (extname(path) === '.node') readVerified(path);
  } else if (isVerified(pathOf(context.parentURL)) && !isOfServer(specifier))
    throw new Error(`${path} is not covered by \`integrity\`: its package is not a declared dependency`);
  return resolved;
};

const load: LoadHookSync = (url, context, next) => {
  const path = pathOf(url);
  if (path === undefined || !isInVerifiedFolder(path)) return next(url, context);
  // Node may have decoded the source; the digest is that of the bytes.
  return { ...next(url, context), source: readVerified(path) };
};

function readVerified(path: string): Buffer {
  const digest = digests.get(path);
  if (digest === undefined) throw new Error(`${path} is not covered by \`integrity\``);
  const content = readFileSync(path);
  if (fileDigest(content) !== digest) throw new Error(`${path} has changed since its \`integrity\` was verified`);
  return content;
}

function pathOf(url: string | undefined): string | undefined {
  return url?.startsWith('file:') ? fileURLToPath(url) : undefined;
}

function isVerified(path: string | undefined): boolean {
  return path !== undefined && digests.has(path);
}

function isInVerifiedFolder(path: string): boolean {
  return isVerified(path) || [...folders].some((folder) => path.startsWith(folder + sep));
}

/** True for the imports that `serveSdk` resolves. */
function isOfServer(specifier: string): boolean {
  return specifier === 'kubenest' || specifier.startsWith('kubenest/');
}
