import { resolve } from 'node:path';
import { readText } from '#apiserver/base/system-error';
import { registerSecret } from '#apiserver/base/secrets';

/** `${env:NAME}` or `${file:PATH}`. `$${env:NAME}` is the text `${env:NAME}`. */
const reference = /(\$?)\$\{(env|file):([^}]*)\}/g;

/** A document whose references are resolved. Members whose references could not be resolved are left out. */
export interface Resolved {
  readonly value: unknown;
  /** One sentence for each reference that could not be resolved, with the path of its member. */
  readonly problems: readonly string[];
  /** Paths of the members that have references: `storage.redisUrl`, `plugins[0].configuration.Team.token`. */
  readonly members: ReadonlySet<string>;
  /** Absolute paths of the files that references name. */
  readonly files: readonly string[];
}

/**
 * Replaces references in the string values of a parsed configuration file by environment variables and by the contents of files, without a
 * line end at their end. Paths are relative to `folder`. The values count as secrets: they are registered, so that the log and errors do
 * not show them.
 */
export async function resolveReferences(document: unknown, folder: string, environment = process.env): Promise<Resolved> {
  const problems: string[] = [];
  const members = new Set<string>();
  const files = new Set<string>();

  async function valueOf(place: string, kind: string, name: string): Promise<string | undefined> {
    if (kind === 'env') {
      const value = environment[name];
      if (value === undefined) problems.push(`${place}: the environment variable ${name} is not set`);
      return value;
    }
    const file = resolve(folder, name);
    files.add(file);
    try {
      return (await readText(file)).replace(/\r?\n$/, '');
    } catch (error) {
      problems.push(`${place}: ${(error as Error).message}`);
      return undefined;
    }
  }

  async function resolvedText(text: string, place: string): Promise<string | undefined> {
    let isResolved = true;
    let resolved = '';
    let end = 0;
    for (const match of text.matchAll(reference)) {
      const [whole, escape = '', kind = '', name = ''] = match;
      resolved += text.slice(end, match.index);
      end = match.index + whole.length;
      if (escape === '$') {
        resolved += whole.slice(1);
        continue;
      }
      members.add(place);
      const value = await valueOf(place, kind, name);
      if (value === undefined) {
        isResolved = false;
        continue;
      }
      registerSecret(value);
      resolved += value;
    }
    return isResolved ? resolved + text.slice(end) : undefined;
  }

  async function resolvedValue(value: unknown, place: string): Promise<unknown> {
    if (typeof value === 'string') return resolvedText(value, place);
    if (Array.isArray(value)) {
      const items = await Promise.all(value.map((item, i) => resolvedValue(item, `${place}[${i}]`)));
      return items.filter((item) => item !== undefined);
    }
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    const entries = Object.entries(value).map(async ([name, item]): Promise<[string, unknown]> => {
      return [name, await resolvedValue(item, place === '' ? name : `${place}.${name}`)];
    });
    return Object.fromEntries((await Promise.all(entries)).filter(([, item]) => item !== undefined));
  }

  return { value: await resolvedValue(document, ''), problems, members, files: [...files] };
}
