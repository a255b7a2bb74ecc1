import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { samples } from '../field-selectors/table.ts';

/** Tests null and empty values in every field of every creatable built-in kind. */

export interface Swept {
  readonly status: number;
  readonly body: {
    readonly groups?: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
    readonly resources?: readonly {
      readonly name: string;
      readonly kind: string;
      readonly namespaced: boolean;
      readonly verbs: readonly string[];
    }[];
    readonly message?: string;
  };
}
export type Ask = (path: string, options?: { method?: string; body?: object; contentType?: string }) => Promise<Swept>;

/** Status for null, and for an empty value if there is one, by kind, verb and field. */
export type Table = Record<string, string>;

type Json = Record<string, unknown>;

const populated = new Map(
  brotliDecompressSync(readFileSync(new URL('../corpus/kinds.jsonl.br', import.meta.url)))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly name: string; readonly json: string })
    .filter(({ name }) => name.endsWith(' full'))
    .map(({ name, json }) => [name.slice(0, -' full'.length), JSON.parse(json) as Json]),
);

type Path = readonly (string | number)[];

/** Yields the paths of all members and items of a document, containers first. */
function* pathsOf(value: unknown, at: Path = []): Generator<Path> {
  if (typeof value !== 'object' || value === null) return;
  const keys = Array.isArray(value) ? [...value.keys()].slice(0, 1) : Object.keys(value);
  for (const key of keys) {
    const path = [...at, key];
    yield path;
    yield* pathsOf((value as Json)[key as string], path);
  }
}

/** Returns a document with another value at a path, copying its parents. */
function replaced(value: unknown, [key, ...rest]: Path, next: unknown): unknown {
  if (key === undefined) return next;
  if (Array.isArray(value)) return value.map((item, i) => (i === key ? replaced(item, rest, next) : item));
  return { ...(value as Json), [key]: replaced((value as Json)[key], rest, next) };
}

const valueAt = (value: unknown, path: Path): unknown => path.reduce<unknown>((at, key) => (at as Json)[key as string], value);

/** Returns the empty value of the same type; undefined if only null is possible. */
function emptyOf(value: unknown): unknown {
  if (typeof value === 'string') return '';
  if (Array.isArray(value)) return [];
  return typeof value === 'object' && value !== null ? {} : undefined;
}

/** Merges equal names at any depth, so that pod templates are tested once. */
const placeOf = (path: Path): string =>
  path
    .map((key) => (typeof key === 'number' ? '*' : key))
    .slice(-2)
    .join('.');

export async function sweep(ask: Ask): Promise<Table> {
  const table: Table = {};
  const seen = new Set<string>();
  const kinds = new Set<string>();
  for (const { kind, apiVersion, path, create } of await writable(ask)) {
    const full = populated.get(`${apiVersion} ${kind}`);
    // Versions of a kind differ little, and each takes a second.
    if (!full || kinds.has(kind)) continue;
    kinds.add(kind);
    const own = { ...full, metadata: { name: 'swept' } };
    const existing = samples.find((sample) => sample.path === path || sample.path.replace('fs-a', 'default') === path)?.object.metadata
      .name;
    for (const at of [...pathsOf(own), ...pathsOf({ metadata: full['metadata'] })]) {
      const isMeta = at[0] === 'metadata';
      const place = isMeta ? `${kind} ${placeOf(at)}` : placeOf(at);
      if (at.length > 1 && seen.has(place)) continue;
      if (at.length > 1) seen.add(place);
      const base = isMeta
        ? {
            ...own,
            metadata: { ...(full['metadata'] as Json), name: 'swept', namespace: undefined, resourceVersion: undefined, uid: undefined },
          }
        : own;
      const empty = emptyOf(valueAt(base, at));
      const values = empty === undefined ? [null] : [null, empty];
      const record = async (verb: string, send: (body: object) => Promise<Swept>): Promise<void> => {
        const statuses: number[] = [];
        for (const value of values) statuses.push((await send(replaced(base, at, value) as object)).status);
        table[`${apiVersion} ${kind} ${verb} ${at.join('.')}`] = statuses.join();
      };
      if (create) await record('create', (body) => ask(`${path}?dryRun=All`, { method: 'POST', body }));
      if (create)
        await record('apply', (body) =>
          ask(`${path}/swept?dryRun=All&fieldManager=m&force=true`, { method: 'PATCH', body, contentType: 'application/apply-patch+yaml' }),
        );
      if (!existing || isMeta) continue;
      const statuses: number[] = [];
      for (const value of values) {
        const patch = at.reduceRight<unknown>((inner, key) => (typeof key === 'number' ? [inner] : { [key]: inner }), value) as object;
        for (const type of ['merge-patch', 'strategic-merge-patch'])
          statuses.push(
            (await ask(`${path}/${existing}?dryRun=All`, { method: 'PATCH', body: patch, contentType: `application/${type}+json` })).status,
          );
      }
      table[`${apiVersion} ${kind} patch ${at.join('.')}`] = statuses.join();
    }
  }
  return table;
}

interface Writable {
  readonly apiVersion: string;
  readonly kind: string;
  readonly path: string;
  readonly create: boolean;
}

async function writable(ask: Ask): Promise<Writable[]> {
  const { body } = await ask('/apis');
  const versions = ['v1', ...(body.groups ?? []).flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion)).sort()];
  const found: Writable[] = [];
  for (const apiVersion of versions) {
    const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
    for (const { name, kind, namespaced, verbs } of (await ask(root)).body.resources ?? [])
      if (verbs.includes('patch') && !name.includes('/'))
        found.push({ apiVersion, kind, path: `${root}${namespaced ? '/namespaces/fs-a' : ''}/${name}`, create: verbs.includes('create') });
  }
  return found;
}
