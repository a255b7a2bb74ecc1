import { parseYaml } from './parse-yaml.ts';
import { type FieldError, fieldPath, invalid, type Path, required } from '#apimachinery/validation/field';
import { parseDuration } from '#apimachinery/runtime/duration';

export type Fields = Readonly<Record<string, unknown>>;

/** Parses a file of one of upstream's configuration kinds. Throws for invalid YAML or another kind. */
export function parseStructured(text: string, group: string, kind: string, versions: readonly string[]): Fields {
  const document: unknown = parseYaml(text);
  const fields = isFields(document) ? document : {};
  const apiVersions = versions.map((version) => `${group}/${version}`);
  if (fields['kind'] !== kind || !apiVersions.includes(String(fields['apiVersion'])))
    throw new Error(`must be of kind ${kind}, apiVersion ${apiVersions.join(' or ')}`);
  const { kind: _, apiVersion: __, ...rest } = fields;
  return rest;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads the members of an object in a configuration file and collects problems: members of another type, and unknown members (`done`). */
export class FieldReader {
  readonly #fields: Fields;
  readonly #read = new Set<string>();

  constructor(
    value: unknown,
    readonly path: Path | undefined,
    readonly errors: FieldError[],
  ) {
    if (value !== undefined && value !== null && !isFields(value) && path) errors.push(invalid(path, value, 'must be an object'));
    this.#fields = isFields(value) ? value : {};
  }

  at(name: string): Path {
    return this.path?.child(name) ?? fieldPath(name);
  }

  has(name: string): boolean {
    return this.#fields[name] !== undefined && this.#fields[name] !== null;
  }

  /** Returns a member of any type; undefined if it is absent. */
  value(name: string): unknown {
    return this.#take(name);
  }

  text(name: string): string {
    const value = this.#take(name);
    if (value === undefined || value === null) return '';
    if (typeof value !== 'string') this.errors.push(invalid(this.at(name), value, 'must be a string'));
    return typeof value === 'string' ? value : '';
  }

  flag(name: string, otherwise: boolean): boolean {
    const value = this.#take(name);
    if (value === undefined || value === null) return otherwise;
    if (typeof value !== 'boolean') this.errors.push(invalid(this.at(name), value, 'must be true or false'));
    return value === true;
  }

  /** Reads a number; undefined if it is absent. */
  number(name: string): number | undefined {
    const value = this.#take(name);
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'number') this.errors.push(invalid(this.at(name), value, 'must be a number'));
    return typeof value === 'number' ? value : undefined;
  }

  /** Reads a duration in milliseconds; undefined if it is absent. */
  duration(name: string): number | undefined {
    const text = this.text(name);
    if (text === '') return undefined;
    try {
      return parseDuration(text);
    } catch (error) {
      this.errors.push(invalid(this.at(name), text, (error as Error).message));
      return undefined;
    }
  }

  texts(name: string): string[] {
    return this.list(name).map((value, i) => {
      if (typeof value !== 'string') this.errors.push(invalid(this.at(name).index(i), value, 'must be a string'));
      return String(value);
    });
  }

  list(name: string): readonly unknown[] {
    const value = this.#take(name);
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) this.errors.push(invalid(this.at(name), value, 'must be a list'));
    return Array.isArray(value) ? (value as unknown[]) : [];
  }

  /** Returns a reader for each object of a list. */
  objects(name: string): FieldReader[] {
    return this.list(name).map((value, i) => new FieldReader(value, this.at(name).index(i), this.errors));
  }

  object(name: string): FieldReader {
    return new FieldReader(this.#take(name), this.at(name), this.errors);
  }

  requiredText(name: string, detail = ''): string {
    const text = this.text(name);
    if (text === '') this.errors.push(required(this.at(name), detail));
    return text;
  }

  /** Reports members that were not read. */
  done(): void {
    for (const name of Object.keys(this.#fields))
      if (!this.#read.has(name)) this.errors.push(invalid(this.at(name), this.#fields[name], 'unknown field'));
  }

  #take(name: string): unknown {
    this.#read.add(name);
    return this.#fields[name];
  }
}
