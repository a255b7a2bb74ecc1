import { existsSync, readFileSync } from 'node:fs';
import type { ProtobufMessage, ProtobufMessages, SchemaTable } from './schema.ts';

/** Messages by name, by package (`k8s.io.api.core.v1`). */
export type ProtobufTable = Readonly<Record<string, Readonly<Record<string, ProtobufMessage>>>>;
/** Descriptions of a type and its fields. */
export type TypeDescription = readonly [type: string, fields: Readonly<Record<string, string>>];

/** A folder of tables that `npm run generate` wrote. Each file is read once, on first use; missing entries are looked up in the base. */
export class TableFolder implements ProtobufMessages {
  readonly #folder: URL;
  readonly #base: TableFolder | undefined;
  readonly #files = new Map<string, unknown>();

  /** `folder` ends with a slash, such as `new URL('./', import.meta.url)`. */
  constructor(folder: URL, base?: TableFolder) {
    this.#folder = folder;
    this.#base = base;
  }

  /** Returns the schema table of a Go package, such as `core_v1`. Throws if there is none. */
  schema(file: string): SchemaTable {
    const table = this.#read<SchemaTable>(file) ?? this.#base?.schema(file);
    if (!table) throw new Error(`schema: no table ${file}`);
    return table;
  }

  /** Returns the type of a kind, such as `core_v1.Pod` for (`v1`, `Pod`); undefined for unknown kinds. */
  typeOf(apiVersion: string, kind: string): string | undefined {
    const key = apiVersion.includes('/') ? `${apiVersion}/${kind}` : `/${apiVersion}/${kind}`;
    const kinds = this.#read<Readonly<Record<string, string>>>('kinds');
    return kinds && Object.hasOwn(kinds, key) ? kinds[key] : this.#base?.typeOf(apiVersion, kind);
  }

  /** Returns the Go package of a schema table: `k8s.io/api/core/v1` for `core_v1`. */
  goPackage(file: string): string | undefined {
    return this.#read<Readonly<Record<string, string>>>('packages')?.[file] ?? this.#base?.goPackage(file);
  }

  /** Returns kube-apiserver's descriptions of a type (`core_v1.Pod`) and its fields; undefined for types without a description. */
  description(type: string): TypeDescription | undefined {
    const dot = type.indexOf('.');
    const table = this.#read<Readonly<Record<string, TypeDescription>>>(`descriptions/${type.slice(0, dot)}`);
    return table?.[type.slice(dot + 1)] ?? this.#base?.description(type);
  }

  messagesOf(packageName: string): ProtobufTable[string] | undefined {
    return this.#read<ProtobufTable>('protobuf')?.[packageName] ?? this.#base?.messagesOf(packageName);
  }

  messageOf(type: string): { package: string; message: ProtobufMessage } | undefined {
    const dot = type.indexOf('.');
    const packageName = this.goPackage(type.slice(0, dot))?.replaceAll('/', '.').replaceAll('-', '_');
    const message = packageName === undefined ? undefined : this.messagesOf(packageName)?.[type.slice(dot + 1)];
    return packageName !== undefined && message ? { package: packageName, message } : undefined;
  }

  /** Returns the content of `<file>.gen.json`. Throws if there is none. */
  table<T>(file: string): T {
    const content = this.#read<T>(file);
    if (content === undefined) throw new Error(`no generated table ${file}`);
    return content;
  }

  #read<T>(file: string): T | undefined {
    if (!this.#files.has(file)) {
      const url = new URL(`${file}.gen.json`, this.#folder);
      this.#files.set(file, existsSync(url) ? JSON.parse(readFileSync(url, 'utf8')) : undefined);
    }
    return this.#files.get(file) as T | undefined;
  }
}
