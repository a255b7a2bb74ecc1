import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { optionTables } from './options.ts';
import { homeOf, lines, scaleTypes, type GeneratedFile } from './tables.ts';

/** Where upstream's sources lie in the module cache. */
export const kubernetesModule = 'k8s.io/kubernetes@v1.36.3';
type Descriptions = [type: string, fields: Record<string, string>];

/** Go's module cache: the one that is named, or Go's own; undefined if there is none. */
export function moduleCache(given: string | undefined): string | undefined {
  if (given) return given;
  if (process.env.GOMODCACHE) return process.env.GOMODCACHE;
  try {
    return execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}

/** `k8sio_api_core_v1` of `k8s.io/api/core/v1`: the last four parts, as openapi-gen names its functions. */
function functionPrefix(goPackage: string): string {
  return goPackage.replace('.', '').split('/').slice(-4).join('_').replaceAll('-', '_');
}

/**
 * The descriptions in the code that openapi-gen wrote, by function: `k8sio_api_core_v1_Pod`. Depth is told by the indent,
 * four tabs for a type and seven for its fields; fields of fields do not occur.
 */
function parseGenerated(source: string): Map<string, Descriptions> {
  const types = new Map<string, Descriptions>();
  let current: Descriptions = ['', {}];
  let field = '';
  for (const line of source.split('\n')) {
    const start = /^func schema_(\w+)\(/.exec(line);
    if (start) {
      current = ['', {}];
      types.set(start[1] ?? '', current);
      continue;
    }
    const property = /^\t{5}"([^"]+)": \{$/.exec(line);
    if (property) field = property[1] ?? '';
    const description = /^(\t{4}|\t{7})Description: +("(?:[^"\\]|\\.)*"),$/.exec(line);
    if (!description) continue;
    const text = JSON.parse(description[2] ?? '""') as string;
    if (description[1]?.length === 7) current[1][field] = text;
    else current[0] ||= text;
  }
  return types;
}

/**
 * The descriptions of types and fields as kube-apiserver publishes them, one table for each schema table:
 * `{"Pod": ["of the type", {"spec": "of the field"}]}`; and those of query parameters. undefined if the Go module that holds
 * them is not there.
 */
export function descriptionTables(facts: string, cache: string | undefined): GeneratedFile[] | undefined {
  const directory = moduleCache(cache);
  const generated = directory && join(directory, kubernetesModule, 'pkg/generated/openapi/zz_generated.openapi.go');
  if (!generated || !existsSync(generated)) return undefined;
  const types = parseGenerated(readFileSync(generated, 'utf8'));
  const index = JSON.parse(readFileSync(join(facts, 'schema/index.json'), 'utf8')) as Record<string, { go: string }>;
  const files: GeneratedFile[] = [];
  for (const [file, { go }] of Object.entries(index)) {
    const definitions = JSON.parse(readFileSync(join(facts, 'schema', `${file}.json`), 'utf8')) as Record<
      string,
      { fields?: Record<string, unknown> }
    >;
    const table: Record<string, Descriptions> = {};
    for (const [definition, { fields = {} }] of Object.entries(definitions)) {
      const found = types.get(`${functionPrefix(go)}_${definition}`);
      if (!found) continue;
      const described = Object.keys(fields).filter((field) => found[1][field] !== undefined);
      table[definition] = [found[0], Object.fromEntries(described.map((field) => [field, found[1][field] ?? '']))];
    }
    if (Object.keys(table).length > 0) files.push({ path: `${homeOf(file)}/descriptions/${file}.gen.json`, content: lines(table) });
    if (file === 'autoscaling_v1') {
      const scale = Object.fromEntries(scaleTypes.map((name) => [name, table[name] ?? ['', {}]]));
      files.push({ path: `src/apiextensions-apiserver/schema/descriptions/${file}.gen.json`, content: lines(scale) });
    }
  }
  return [...files, ...optionTables(join(directory, kubernetesModule, 'api/openapi-spec/v3'))];
}
