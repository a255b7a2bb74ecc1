import { basename } from 'node:path';
import { descriptionComment } from './description-comment.ts';
import { fieldTypeNames, hasTypeNames } from './enum-names.ts';
import { read } from './facts.ts';
import { kindFiles } from './kinds.ts';
import { removedApis } from './removed-apis.ts';
import { scalarType } from './scalar-type.ts';
import { type ServedKind, servedKinds } from './served-kinds.ts';
import { type GeneratedFile, homeOf, publicTypesFolder } from './tables.ts';

interface FieldTable {
  readonly type?: string;
  readonly format?: string;
  readonly ref?: string;
  readonly ptr?: boolean;
  readonly enum?: readonly string[];
  readonly known?: readonly string[];
  readonly items?: FieldTable;
  readonly map?: FieldTable;
}
interface DefinitionTable extends FieldTable {
  readonly gvk?: readonly string[];
  readonly fields?: Readonly<Record<string, FieldTable>>;
  readonly required?: readonly string[];
}
type Descriptions = Readonly<Record<string, readonly [type: string, fields: Readonly<Record<string, string>>]>>;

/** The tables of one API version. */
interface ApiVersion {
  /** Name of the file: `core_v1`. */
  readonly file: string;
  readonly go: string;
  readonly definitions: Readonly<Record<string, DefinitionTable>>;
  readonly descriptions: Descriptions;
  readonly typeNames: ReadonlyMap<string, string>;
}

const aliases: Readonly<Record<string, string>> = {
  'meta_v1.FieldsV1': '{ [pathElement: string]: FieldsV1 }',
  'meta_v1.Time': 'string',
  'meta_v1.MicroTime': 'string',
  'meta_v1.Verbs': 'string[]',
  'resource.Quantity': 'string',
  'intstr.IntOrString': 'number | string',
  'runtime.RawExtension': 'unknown',
};

/** Structs that validation rejects if they are empty, although the API declares none of their members as required. */
const neverEmpty: ReadonlySet<string> = new Set([
  'core_v1.PersistentVolume.spec',
  'core_v1.PersistentVolumeClaim.spec',
  'core_v1.Service.spec',
  'networking_v1.Ingress.spec',
]);

/**
 * Returns the types for package authors: with the fields that the API requires of a valid object, enums as unions, and the API's
 * descriptions as doc comments; and the kinds. Returns undefined if the sources of upstream's types are not in the module cache.
 */
export function publicFiles(facts: string, cache: string, descriptions: readonly GeneratedFile[]): GeneratedFile[] | undefined {
  if (!hasTypeNames(cache)) return undefined;
  const own = descriptions.filter(({ path }) => path.startsWith(`${homeOf(basename(path, '.gen.json'))}/`));
  const tables = new Map(own.map(({ path, content }) => [basename(path, '.gen.json'), JSON.parse(content) as Descriptions]));
  const index = read(facts, 'schema/index.json') as unknown as Record<string, { readonly go: string }>;
  const versions = [
    ...Object.entries(index).map(([file, { go }]) => ({ file, go, definitions: read(facts, 'schema', `${file}.json`) })),
    ...removedApis(facts),
  ].map(({ file, go, definitions }): ApiVersion => {
    const typed = definitions as unknown as ApiVersion['definitions'];
    return { file, go, definitions: typed, descriptions: tables.get(file) ?? {}, typeNames: fieldTypeNames(cache, go) };
  });
  const kinds = servedKinds(facts);
  const types = new PublicTypes(versions, kinds);
  const descriptionOf = (type: string): string => {
    const [file = '', name = ''] = type.split('.');
    return tables.get(file)?.[name]?.[0] ?? '';
  };
  return [...versions.flatMap((version) => types.fileOf(version)), ...kindFiles(kinds, descriptionOf)];
}

class PublicTypes {
  readonly #byName: ReadonlyMap<string, DefinitionTable>;
  /** `core_v1.Pod`: kinds whose objects have a name. */
  readonly #named: ReadonlySet<string>;
  readonly #required = new Map<string, ReadonlySet<string>>();

  constructor(versions: readonly ApiVersion[], kinds: readonly ServedKind[]) {
    this.#byName = new Map(
      versions.flatMap(({ file, definitions }) => Object.entries(definitions).map(([name, table]) => [`${file}.${name}`, table] as const)),
    );
    this.#named = new Set(kinds.flatMap(({ type, isStored }) => (isStored ? [type] : [])));
  }

  fileOf(version: ApiVersion): GeneratedFile[] {
    const { file, go, definitions } = version;
    const scope = new Scope(file, enumsOf(version));
    const types = Object.entries(definitions)
      .filter(([name]) => !aliases[`${file}.${name}`] || name === 'FieldsV1')
      .map(([name, table]) => this.#typeOf(version, name, table, scope));
    if (types.length === 0) return [];
    const unions = [...scope.enums.unions].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, union]) => `export type ${name} = ${union};\n`);
    const head = `// The types of ${go} for packages. Written by \`npm run generate\`; do not edit.\n${scope.imports()}`;
    return [{ path: `${publicTypesFolder}/${file}.gen.ts`, content: [head, ...unions, ...types].join('\n') }];
  }

  #typeOf({ file, descriptions }: ApiVersion, name: string, table: DefinitionTable, scope: Scope): string {
    const [text = '', ofFields = {}] = descriptions[name] ?? [];
    const comment = descriptionComment(text, '');
    const alias = aliases[`${file}.${name}`];
    if (alias || !table.fields) return `${comment}export type ${name} = ${alias ?? typeScript(table, scope)};\n`;
    const required = this.#requiredOf(`${file}.${name}`);
    const fixed = this.#fixedFields(`${file}.${name}`, table, scope);
    const members = Object.entries(table.fields).map(([field, fieldTable]) => {
      const key = /^[a-zA-Z_]\w*$/.test(field) ? field : JSON.stringify(field);
      const mark = required.has(field) || fixed[field] ? '' : '?';
      const type = fixed[field] ?? typeScript(fieldTable, scope, `${name}.${field}`);
      return `${descriptionComment(ofFields[field] ?? '', '  ')}  ${key}${mark}: ${type};\n`;
    });
    // A type alias, unlike an interface, is assignable to a type with an index signature such as KubeObject.
    const [open, close] = isTopLevel(table) ? [`type ${name} = {`, '};'] : [`interface ${name} {`, '}'];
    return `${comment}export ${open}\n${members.join('')}${close}\n`;
  }

  /** Returns the types of the fields that identify an object of a kind. */
  #fixedFields(type: string, { gvk = [], fields = {} }: DefinitionTable, scope: Scope): Readonly<Record<string, string>> {
    const [only] = gvk;
    if (only === undefined || gvk.length > 1 || !fields.metadata) return {};
    const slash = only.lastIndexOf('/');
    const apiVersion = `'${only.slice(0, slash).replace(/^\//, '')}'`;
    const ids = { apiVersion, kind: `'${only.slice(slash + 1)}'` };
    const metadata = fields.metadata.ref?.split('.').at(-1) ?? '';
    const meta = scope.reference('meta_v1', metadata);
    return { ...ids, metadata: this.#named.has(type) ? `${meta} & { name: string }` : meta };
  }

  /**
   * Returns the names of a type's required fields: those that the API requires, and structs with required fields, which validation reaches
   * even if the client has not sent the struct. Nothing validates a status as a whole.
   */
  #requiredOf(type: string): ReadonlySet<string> {
    const known = this.#required.get(type);
    if (known) return known;
    this.#required.set(type, new Set());
    const { fields = {}, required = [] } = this.#byName.get(type) ?? {};
    const reached = Object.entries(fields).filter(([name, { ref, ptr }]) => {
      if (!ref || ptr || name === 'status' || name === 'metadata') return false;
      return neverEmpty.has(`${type}.${name}`) || this.#requiredOf(ref.includes('.') ? ref : `${type.split('.')[0]}.${ref}`).size > 0;
    });
    const names = new Set([...required, ...reached.map(([name]) => name)]);
    this.#required.set(type, names);
    return names;
  }
}

function isTopLevel({ gvk, fields = {} }: DefinitionTable): boolean {
  return gvk !== undefined && fields.metadata !== undefined;
}

/** The named unions of a file, and the name of each field's union by `Container.imagePullPolicy`. */
interface Enums {
  readonly unions: ReadonlyMap<string, string>;
  readonly nameOf: ReadonlyMap<string, string>;
}

/** Names unions as upstream's Go types. A name that stands for several unions, or for a struct, is not used. */
function enumsOf({ definitions, typeNames }: ApiVersion): Enums {
  const unions = new Map<string, string>();
  const nameOf = new Map<string, string>();
  const ambiguous = new Set(Object.keys(definitions));
  for (const [type, { fields = {} }] of Object.entries(definitions)) {
    for (const [field, table] of Object.entries(fields)) {
      const union = unionOf(table.items ?? table);
      const name = typeNames.get(`${type}.${field}`);
      if (!union || !name) continue;
      if ((unions.get(name) ?? union) !== union) ambiguous.add(name);
      unions.set(name, union);
      nameOf.set(`${type}.${field}`, name);
    }
  }
  const isClear = (name: string): boolean => !ambiguous.has(name);
  return {
    unions: new Map([...unions].filter(([name]) => isClear(name))),
    nameOf: new Map([...nameOf].filter(([, name]) => isClear(name))),
  };
}

/** Returns the union of an enum's values. A list of known values that may grow also takes other strings. */
function unionOf({ enum: values, known }: FieldTable): string | undefined {
  const literals = (list: readonly string[]): string => list.map((value) => `'${value}'`).join(' | ');
  if (values) return literals(values);
  if (!known) return undefined;
  const isClosed = known.includes('Unknown') || known.includes('NotIn');
  return isClosed ? literals(known) : `${literals(known)} | (string & {})`;
}

/** Names that the types of one file refer to. */
class Scope {
  readonly file: string;
  readonly enums: Enums;
  readonly #imports = new Map<string, Set<string>>();

  constructor(file: string, enums: Enums) {
    this.file = file;
    this.enums = enums;
  }

  /** Returns the name by which this file refers to a type, which it imports if it is in another file. */
  reference(file: string, name: string): string {
    const alias = aliases[`${file}.${name}`];
    if (alias && name !== 'FieldsV1') return alias;
    if (file === this.file) return name;
    this.#imports.set(file, (this.#imports.get(file) ?? new Set()).add(name));
    return name;
  }

  imports(): string {
    const files = [...this.#imports].sort(([a], [b]) => (a < b ? -1 : 1));
    return files.map(([file, names]) => `import type { ${[...names].sort().join(', ')} } from './${file}.gen.ts';\n`).join('');
  }
}

function typeScript(table: FieldTable, scope: Scope, field = ''): string {
  if (table.ref) {
    const dot = table.ref.indexOf('.');
    return scope.reference(dot < 0 ? scope.file : table.ref.slice(0, dot), table.ref.slice(dot + 1));
  }
  if (table.map) return `Record<string, ${typeScript(table.map, scope)}>`;
  if (table.type === 'array') return listOf(table.items, scope, field);
  const known = table.type === 'string' && table.format !== 'int-or-string' ? (scope.enums.nameOf.get(field) ?? unionOf(table)) : undefined;
  return known ?? scalarType(table);
}

function listOf(items: FieldTable | undefined, scope: Scope, field: string): string {
  const item = items ? typeScript(items, scope, field) : 'unknown';
  // The objects in a template, such as claims of a StatefulSet, need no apiVersion and kind.
  if (field === 'StatefulSetSpec.volumeClaimTemplates') return `(Omit<${item}, 'apiVersion' | 'kind'> & Partial<${item}>)[]`;
  return item.includes('|') ? `(${item})[]` : `${item}[]`;
}
