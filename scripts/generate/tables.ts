import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { read, type Json, type Table } from './facts.ts';
import { removedApis } from './removed-apis.ts';

/** A generated file of the repository; `path` is relative to its root. */
export interface GeneratedFile {
  readonly path: string;
  readonly content: string;
}

/** Folders of schema tables outside of the built-in APIs. */
const homes: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['meta_v1', 'runtime', 'intstr', 'resource', 'version', 'apidiscovery_v2', 'apidiscovery_v2beta1'].map((file) => [
      file,
      'src/apimachinery/meta/schema',
    ]),
  ),
  apiextensions_v1: 'src/apiextensions-apiserver/schema',
  apiregistration_v1: 'src/kube-aggregator/schema',
};
const kubernetes = 'src/kubernetes/schema';
/** Folder of the types for packages. */
export const publicTypesFolder = 'src/kubernetes/types';

/** Types of autoscaling/v1 that the scale subresource of custom resources uses, too. */
export const scaleTypes: readonly string[] = ['Scale', 'ScaleSpec', 'ScaleStatus'];

/** Returns the folder of a schema table such as `core_v1`. */
export function homeOf(file: string): string {
  return homes[file] ?? kubernetes;
}

/** Returns the folder of a protobuf package such as `k8s.io.api.core.v1`. */
function homeOfProtobuf(name: string): string {
  if (name.includes('.apiextensions_apiserver.')) return 'src/apiextensions-apiserver/schema';
  if (name.includes('.kube_aggregator.')) return 'src/kube-aggregator/schema';
  if (name.includes('.apimachinery.') || name.includes('.apidiscovery.')) return 'src/apimachinery/meta/schema';
  return kubernetes;
}

function byName([a]: readonly [string, Table], [b]: readonly [string, Table]): number {
  return a < b ? -1 : 1;
}

/** Formats JSON with one member per line, so that an API change modifies few lines. `depth` 2 also splits nested members. */
export function lines(table: Table, depth = 1): string {
  const members = Object.entries(table).map(([key, value]) => {
    const nested = depth > 1 && value !== null && typeof value === 'object';
    if (nested && Array.isArray(value)) return `${JSON.stringify(key)}:[\n${value.map((item) => JSON.stringify(item)).join(',\n')}]`;
    return `${JSON.stringify(key)}:${nested ? lines(value as Table, depth - 1).trimEnd() : JSON.stringify(value)}`;
  });
  return `{\n${members.join(',\n')}\n}\n`;
}

/** Types that are never stored. Others lose empty lists, because upstream stores them as protobuf. */
const neverStored: ReadonlySet<string> = new Set([
  'admission_v1',
  'admission_v1beta1',
  'authentication_v1',
  'authorization_v1',
  'imagepolicy_v1alpha1',
]);

/** Corrects missing and wrong facts. */
function correct(file: string, table: Table): void {
  for (const value of Object.values(table)) {
    const { fields = {} } = value as { fields?: Record<string, Table> };
    if (homeOf(file) !== kubernetes || neverStored.has(file)) continue;
    for (const [name, field] of Object.entries(fields))
      if (field.always && field.type === 'array' && !field.ptr && name !== 'items') field.nullWhenEmpty = true;
  }
  if (file !== 'discovery_v1') return;
  const { fields } = table.EndpointSlice as { fields: { addressType: { enum: string[] } } };
  fields.addressType.enum = ['FQDN', 'IPv4', 'IPv6'];
}

/** Returns all tables generated from the facts alone. */
export function factTables(facts: string): GeneratedFile[] {
  const files: GeneratedFile[] = [];
  const add = (folder: string, name: string, table: Table, depth?: number) => {
    files.push({ path: `${folder}/${name}.gen.json`, content: lines(table, depth) });
  };

  const removed = removedApis(facts);
  const schemas = readdirSync(join(facts, 'schema'))
    .filter((name) => name !== 'index.json')
    .map((name) => [basename(name, '.json'), read(facts, 'schema', name)] as const);
  const kinds = new Map<string, Table>();
  for (const [file, table] of [...schemas, ...removed.map(({ file, definitions }) => [file, definitions] as const)].sort(byName)) {
    correct(file, table);
    const folder = homeOf(file);
    add(folder, file, table);
    for (const [definition, value] of Object.entries(table)) {
      for (const gvk of ((value as Table).gvk as string[] | undefined) ?? []) {
        const index = kinds.get(folder) ?? {};
        index[gvk] = `${file}.${definition}`;
        kinds.set(folder, index);
      }
    }
  }
  for (const [folder, index] of kinds) add(folder, 'kinds', index);

  const autoscaling = read(facts, 'schema/autoscaling_v1.json');
  const scale = Object.fromEntries(scaleTypes.map((name) => [name, autoscaling[name] as Json]));
  add('src/apiextensions-apiserver/schema', 'autoscaling_v1', scale);

  const packages = read(facts, 'schema/index.json') as Record<string, { go: string }>;
  const goPackages = new Map<string, Table>();
  for (const [file, { go }] of Object.entries(packages)) {
    const folder = homeOf(file);
    goPackages.set(folder, { ...goPackages.get(folder), [file]: go });
  }
  goPackages.set(kubernetes, { ...goPackages.get(kubernetes), ...Object.fromEntries(removed.map(({ file, go }) => [file, go])) });
  goPackages.set('src/apiextensions-apiserver/schema', {
    ...goPackages.get('src/apiextensions-apiserver/schema'),
    autoscaling_v1: 'k8s.io/api/autoscaling/v1',
  });
  for (const [folder, table] of goPackages) add(folder, 'packages', table);

  const protobuf = new Map<string, Table>();
  for (const [name, messages] of Object.entries(read(facts, 'protobuf.json'))) {
    const folder = homeOfProtobuf(name);
    protobuf.set(folder, { ...protobuf.get(folder), [name]: messages });
    if (name === 'k8s.io.api.autoscaling.v1') {
      const extensions = 'src/apiextensions-apiserver/schema';
      const messagesOfScale = Object.fromEntries(scaleTypes.map((message) => [message, (messages as Table)[message] as Json]));
      protobuf.set(extensions, { ...protobuf.get(extensions), [name]: messagesOfScale });
    }
  }
  const builtIn = protobuf.get(kubernetes) ?? {};
  for (const { go, messages } of removed) {
    const name = go.replaceAll('/', '.');
    builtIn[name] = { ...(builtIn[name] as Table | undefined), ...messages };
  }
  for (const [folder, table] of protobuf) add(folder, 'protobuf', table, 2);

  const resources = read(facts, 'resources.json') as { groupVersions: Json; discovery: Table; served: Table; offByDefault: Json };
  add(
    kubernetes,
    'discovery',
    {
      groupVersions: resources.groupVersions,
      apis: resources.discovery.apis as Json,
      aggregatedOrder: resources.discovery.aggregatedOrder as Json,
      nonResourcePaths: resources.discovery.nonResourcePaths as Json,
    },
    2,
  );
  // Tables for tests that compare the resource definitions with the real server.
  const drift = `${kubernetes}/drift`;
  add(drift, 'resources', resources.served, 2);
  add(drift, 'off-by-default', resources.offByDefault as Table, 2);
  add(drift, 'columns', read(facts, 'columns.json').list as Table);
  add(drift, 'field-selectors', read(facts, 'field-selectors.json').resources as Table);
  add(drift, 'storage', read(facts, 'storage.json').resources as Table);
  add(kubernetes, 'bootstrap', read(facts, 'bootstrap.json'), 2);
  add(kubernetes, 'rbac', read(facts, 'rbac.json'), 2);
  for (const [name, table] of Object.entries(optionTables(facts))) add('src/cmd/options', name, table);
  return files;
}

/** Returns the tables for the validation of options: flags, feature gates, and the ordered names of admission plugins. */
function optionTables(facts: string): Record<'flags' | 'feature-gates' | 'admission', Table> {
  const { flags, featureGates } = read(facts, 'flags.json') as { flags: Table; featureGates: Record<string, Record<string, Json>> };
  const gates = Object.entries(featureGates).map(([name, { stage = null, default: value = null, locked = false }]) => {
    return [name, { stage, default: value, ...(locked === true && { locked }) }] as const;
  });
  return { flags, 'feature-gates': Object.fromEntries(gates), admission: read(facts, 'admission.json') };
}
