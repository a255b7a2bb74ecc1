import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { removedApis } from './removed-apis.ts';
import { scalarType } from './scalar-type.ts';
import { homeOf, scaleTypes, type GeneratedFile } from './tables.ts';

interface FieldTable {
  readonly type?: string;
  readonly format?: string;
  readonly ref?: string;
  readonly items?: FieldTable;
  readonly map?: FieldTable;
}
interface DefinitionTable extends FieldTable {
  readonly gvk?: readonly string[];
  readonly fields?: Readonly<Record<string, FieldTable>>;
}

/** Types defined manually in src/apimachinery/meta/types.ts. */
const metaTypes = new Set(['FieldsV1', 'ListMeta', 'ManagedFieldsEntry', 'ObjectMeta', 'OwnerReference']);
const aliases: Readonly<Record<string, string>> = {
  'meta_v1.Time': 'string',
  'meta_v1.MicroTime': 'string',
  'meta_v1.Verbs': 'string[]',
  'resource.Quantity': 'string',
  'intstr.IntOrString': 'number | string',
  'runtime.RawExtension': 'unknown',
};

class Imports {
  readonly meta = new Set<string>();
  readonly files = new Map<string, Set<string>>();
}

function reference(file: string, name: string, own: string, imports: Imports): string {
  const alias = aliases[`${file}.${name}`];
  if (alias) return alias;
  if (file === 'meta_v1' && metaTypes.has(name)) {
    imports.meta.add(name);
    return name;
  }
  if (file === own) return name;
  const names = imports.files.get(file) ?? new Set();
  imports.files.set(file, names.add(name));
  return name;
}

function typeScript(field: FieldTable, own: string, imports: Imports): string {
  if (field.ref) {
    const dot = field.ref.indexOf('.');
    return reference(dot < 0 ? own : field.ref.slice(0, dot), field.ref.slice(dot + 1), own, imports);
  }
  if (field.map) return `Record<string, ${typeScript(field.map, own, imports)}>`;
  if (field.type !== 'array') return scalarType(field);
  const item = field.items ? typeScript(field.items, own, imports) : 'unknown';
  return item.includes('|') ? `(${item})[]` : `${item}[]`;
}

/**
 * Returns TypeScript interfaces of the schema tables, for type checking only. Every field is optional, because objects are
 * accessed before validation and Go omits zero values.
 */
export function typeFiles(facts: string): GeneratedFile[] {
  const index = JSON.parse(readFileSync(join(facts, 'schema/index.json'), 'utf8')) as Record<string, { go: string }>;
  const files: GeneratedFile[] = [];
  const write = (folder: string, file: string, goPackage: string, definitions: Record<string, DefinitionTable>) => {
    const imports = new Imports();
    const interfaces: string[] = [];
    for (const [name, definition] of Object.entries(definitions)) {
      if (aliases[`${file}.${name}`] || (file === 'meta_v1' && metaTypes.has(name))) continue;
      if (!definition.fields) {
        interfaces.push(`export type ${name} = ${typeScript(definition, file, imports)};\n`);
        continue;
      }
      const isObject = definition.gvk !== undefined && definition.fields.metadata?.ref === 'meta_v1.ObjectMeta';
      if (isObject) imports.meta.add('KubeObject');
      const members = Object.entries(definition.fields)
        .filter(([field]) => !isObject || !['kind', 'apiVersion', 'metadata'].includes(field))
        .map(
          ([field, table]) => `  ${/^[a-zA-Z_]\w*$/.test(field) ? field : JSON.stringify(field)}?: ${typeScript(table, file, imports)};\n`,
        );
      interfaces.push(`export interface ${name}${isObject ? ' extends KubeObject' : ''} {\n${members.join('')}}\n`);
    }
    if (interfaces.length === 0) return;
    const lines = [`// The types of ${goPackage}. Written by \`npm run generate\`; do not edit.\n`];
    if (imports.meta.size > 0) lines.push(`import type { ${[...imports.meta].sort().join(', ')} } from '#apimachinery/meta/types';\n`);
    for (const [other, names] of [...imports.files].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const home = homeOf(other);
      const from = home === folder ? `./${other}.gen.ts` : `#${home.slice('src/'.length)}/${other}.gen`;
      lines.push(`import type { ${[...names].sort().join(', ')} } from '${from}';\n`);
    }
    files.push({ path: `${folder}/${file}.gen.ts`, content: `${lines.join('')}\n${interfaces.join('\n')}` });
  };
  for (const [file, { go }] of Object.entries(index)) {
    const definitions = JSON.parse(readFileSync(join(facts, 'schema', `${file}.json`), 'utf8')) as Record<string, DefinitionTable>;
    write(homeOf(file), file, go, definitions);
    if (file === 'autoscaling_v1') {
      const scale = Object.fromEntries(scaleTypes.map((name) => [name, definitions[name] ?? {}]));
      write('src/apiextensions-apiserver/schema', file, go, scale);
    }
  }
  for (const { file, go, definitions } of removedApis(facts)) write(homeOf(file), file, go, definitions as Record<string, DefinitionTable>);
  return files;
}
