import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Document, LineCounter, parseAllDocuments } from 'yaml';
import { readText } from '#apiserver/base/system-error';
import type { KubeObject } from '#apimachinery/meta/types';
import { isJsonObject } from '#apimachinery/patch/own-property';

/** A parsed document with its place. */
export interface SourceDocument {
  readonly file: string;
  /** Line of the first value, from 1. */
  readonly line: number;
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
  readonly value: unknown;
}

/** An object with its place. */
export interface SourceObject {
  readonly file: string;
  readonly line: number;
  readonly object: KubeObject;
}

/** Name of standard input as a file. */
const standardInput = '-';
const extensions = /\.(ya?ml|json)$/;

/**
 * Returns the objects of files, of folders with all subfolders (`.yaml`, `.yml`, `.json`), and of standard input (`-`); a List counts as
 * its items. Rejects with an Error that names the file and the line, and for a path without objects unless `mayBeEmpty`.
 */
export async function readObjects(paths: readonly string[], { mayBeEmpty = false } = {}): Promise<SourceObject[]> {
  const objects: SourceObject[] = [];
  for (const path of paths) {
    const files = await filesOf(path);
    if (files.length === 0) throw new Error(`${path}: has no file of objects in YAML or JSON`);
    const before = objects.length;
    for (const file of files) for (const document of parseDocuments(await readSource(file), file)) objects.push(...objectsOf(document));
    if (!mayBeEmpty && objects.length === before) throw new Error(`${nameOf(path)}: has no objects`);
  }
  return objects;
}

/** Returns the paths of the files of a folder and its subfolders, sorted; hidden folders and node_modules are left out. */
export async function filesOf(path: string): Promise<string[]> {
  if (path === standardInput || !(await stat(path)).isDirectory()) return [path];
  const entries = (await readdir(path, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
  const found = await Promise.all(
    entries.map(async (entry) => {
      if (entry.isDirectory()) return entry.name.startsWith('.') || entry.name === 'node_modules' ? [] : filesOf(join(path, entry.name));
      return extensions.test(entry.name) ? [join(path, entry.name)] : [];
    }),
  );
  return found.flat();
}

/** Returns the name of a file in messages. */
function nameOf(file: string): string {
  return file === standardInput ? 'standard input' : file;
}

function readSource(file: string): Promise<string> {
  return file === standardInput ? text(process.stdin) : readText(file);
}

/**
 * Parses the documents of a file in YAML 1.1, without timestamps (they are text in the API) and aliases; empty documents are left out.
 * Throws an Error that names the file and the line.
 */
export function parseDocuments(source: string, file: string): SourceDocument[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(source, {
    version: '1.1',
    lineCounter: lines,
    prettyErrors: false,
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:timestamp'),
  });
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document) => {
    const [error] = document.errors;
    if (error) throw new Error(`${nameOf(file)}:${lines.linePos(error.pos[0]).line}: ${error.message}`);
    const { line } = lines.linePos(document.contents?.range[0] ?? 0);
    const value = valueOf(document, `${nameOf(file)}:${line}`);
    return value === null ? [] : [{ file, line, document, lines, value }];
  });
}

/** Throws an Error for an alias, since a few lines with aliases can stand for gigabytes. */
function valueOf(document: Document.Parsed, place: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    throw new Error(`${place}: the document has a YAML alias, which is not supported`, { cause: error });
  }
}

function objectsOf({ file, line, value }: SourceDocument): SourceObject[] {
  if (!isObject(value)) throw new Error(`${nameOf(file)}:${line}: a document must be an object with apiVersion, kind and metadata`);
  if (value.kind !== 'List') return [{ file, line, object: value }];
  const items = Array.isArray(value['items']) ? (value['items'] as unknown[]) : [];
  return items.map((object) => {
    if (!isObject(object))
      throw new Error(`${nameOf(file)}:${line}: the items of a List must be objects with apiVersion, kind and metadata`);
    return { file, line, object };
  });
}

/** True for an object with apiVersion, kind and, unless it is a List, metadata. */
export function isObject(value: unknown): value is KubeObject {
  return (
    isJsonObject(value) &&
    typeof value['apiVersion'] === 'string' &&
    typeof value['kind'] === 'string' &&
    (isJsonObject(value['metadata']) || value['kind'] === 'List')
  );
}
