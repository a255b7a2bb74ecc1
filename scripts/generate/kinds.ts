import { descriptionComment } from './description-comment.ts';
import type { ServedKind, ServedSubresource } from './served-kinds.ts';
import { type GeneratedFile, publicTypesFolder } from './tables.ts';

const kindsFile = 'src/kubernetes/kinds.gen.ts';
const resourcesFile = 'src/sdk/built-in-resources.gen.ts';
const header = 'Written by `npm run generate`; do not edit.';

/** Returns the kinds as values, and the names of the built-in resources by group. */
export function kindFiles(kinds: readonly ServedKind[], descriptionOf: (type: string) => string): GeneratedFile[] {
  return [
    { path: kindsFile, content: kindsText(kinds, descriptionOf) },
    { path: resourcesFile, content: resourcesText(kinds) },
  ];
}

function kindsText(kinds: readonly ServedKind[], descriptionOf: (type: string) => string): string {
  const files = new Set<string>();
  const typed = (type: string): string => {
    files.add(fileOf(type));
    return type;
  };
  // The Events of events.k8s.io are those of the core group, whose form plugins see.
  const exported = kinds
    .filter(({ isPreferred, group }) => isPreferred && group !== 'events.k8s.io')
    .sort((a, b) => (a.type < b.type ? -1 : 1))
    .map((kind) => {
      const name = kind.kind;
      const comment = descriptionComment(descriptionOf(kind.type), '');
      return `${comment}export type ${name} = ${typed(kind.type)};\n${comment}export const ${name}: ${kindType(name, kind, typed)} = ${kindValue(kind)};\n`;
    });
  const imports = [...files].sort().map((file) => {
    const folder = publicTypesFolder.slice(publicTypesFolder.lastIndexOf('/') + 1);
    return `import type * as ${file} from './${folder}/${file}.gen.ts';\n`;
  });
  const contract = `import type { ConnectionOptions, Kind } from '#apiserver/registry/kind';\n`;
  return `/** The built-in kinds, in the preferred version of their group, as types and as values. ${header} */\n${contract}${imports.join('')}\n${exported.join('\n')}`;
}

function kindType(name: string, kind: ServedKind, typed: (type: string) => string): string {
  const subresources = kind.subresources.map((subresource) => `${subresource.name}: ${subresourceType(subresource, kind, name, typed)}`);
  const facts = [
    `operations: ${unionOf(kind.operations)}`,
    `isNamespaced: ${kind.isNamespaced}`,
    `subresources: {${subresources.length > 0 ? ` ${subresources.join('; ')} ` : ''}}`,
  ];
  return `Kind<${name}, { ${facts.join('; ')} }>`;
}

function subresourceType({ type, operations }: ServedSubresource, kind: ServedKind, name: string, typed: (type: string) => string): string {
  const object = type === undefined ? 'ConnectionOptions' : type === kind.type ? name : typed(type);
  return `{ object: ${object}; operations: ${unionOf(operations)} }`;
}

function kindValue({ group, version, kind, resource, isNamespaced }: ServedKind): string {
  const scope = isNamespaced ? '' : ', isClusterScoped: true';
  return `{ group: '${group}', version: '${version}', kind: '${kind}', resource: '${resource}'${scope} }`;
}

function resourcesText(kinds: readonly ServedKind[]): string {
  const groups = [...new Set(kinds.map(({ group }) => group))].sort();
  const members = groups.map((group) => {
    const resources = new Set(kinds.filter((kind) => kind.group === group).map(({ resource }) => resource));
    return `  '${group}': ${unionOf([...resources].sort())};\n`;
  });
  return `/** The built-in resources by group, in all versions. ${header} */\nexport interface BuiltInResources {\n${members.join('')}}\n`;
}

const fileOf = (type: string): string => type.slice(0, type.indexOf('.'));
const unionOf = (values: readonly string[]): string => (values.length > 0 ? values.map((value) => `'${value}'`).join(' | ') : 'never');
