/**
 * What other servers put into a joined document of OpenAPI 2.0. Their definitions may have names that others have for
 * something else: these become `<name>_v2`, `_v3`. Upstream: kube-openapi/pkg/aggregator/aggregator.go (mergeSpecs).
 */
import type { JsonSchema } from '#apimachinery/openapi/schemas';
import type { SwaggerParameter, SwaggerPart } from '#apimachinery/openapi/swagger';
import { deepCopy } from '#apimachinery/runtime/copy';
import { deepEqual } from '#apimachinery/runtime/equality';

const kindsKey = 'x-kubernetes-group-version-kind';

/** What is joined already, by name: what a part is compared with, and added to. */
export interface JoinedParts {
  readonly definitions: Map<string, JsonSchema>;
  readonly parameters: Map<string, SwaggerParameter>;
}

/** What of a part is to be written. */
export interface AddedPart {
  readonly paths: Readonly<Record<string, JsonSchema>>;
  /** With those that were there, and are the definitions of more kinds now. */
  readonly definitions: ReadonlyMap<string, JsonSchema>;
}

/** Adds a part under names that are its own. The part itself stays as it is. */
export function addForeignPart(part: SwaggerPart, joined: JoinedParts): AddedPart {
  const ofDefinitions = renames(part.definitions, joined.definitions, isSameModuloKinds);
  const ofParameters = renames(part.parameters, joined.parameters, deepEqual);
  const { paths, definitions, parameters } = withReferences(
    part,
    new Map([...prefixed('definitions', ofDefinitions), ...prefixed('parameters', ofParameters)]),
  );
  const written = new Map<string, JsonSchema>();
  for (const [name, definition] of Object.entries(definitions)) {
    const newName = ofDefinitions.get(name) ?? name;
    const present = joined.definitions.get(newName);
    const added = present ? withKindsOf(present, definition) : definition;
    if (added === present) continue;
    joined.definitions.set(newName, added);
    written.set(newName, added);
  }
  for (const [name, parameter] of Object.entries(parameters)) {
    const newName = ofParameters.get(name) ?? name;
    if (!joined.parameters.has(newName)) joined.parameters.set(newName, parameter);
  }
  return { paths, definitions: written };
}

/** New names for those that others have for something else; what was renamed once has the same name again. */
function renames<T>(
  own: Readonly<Record<string, T>>,
  joined: ReadonlyMap<string, T>,
  isSame: (present: T, value: T) => boolean,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const taken = new Set<string>();
  for (const [name, value] of Object.entries(own)) {
    const isFit = (candidate: string): boolean => {
      const present = joined.get(candidate);
      if (present !== undefined) return isSame(present, value);
      return candidate === name || (!Object.hasOwn(own, candidate) && !taken.has(candidate));
    };
    let newName = name;
    for (let i = 2; !isFit(newName); i += 1) newName = `${name}_v${i}`;
    if (newName === name) continue;
    taken.add(newName);
    found.set(name, newName);
  }
  return found;
}

function isSameModuloKinds(a: JsonSchema, b: JsonSchema): boolean {
  return deepEqual({ ...a, [kindsKey]: undefined }, { ...b, [kindsKey]: undefined });
}

/** The definition as one of the other's kinds, too; the same object where it is that already. */
function withKindsOf(present: JsonSchema, other: JsonSchema): JsonSchema {
  const [kinds, others] = [present[kindsKey], other[kindsKey]];
  if (!Array.isArray(others)) return present;
  if (!Array.isArray(kinds)) return { ...present, [kindsKey]: others };
  const merged = new Map([...others, ...kinds].map((kind: unknown) => [kindText(kind), kind]));
  if (merged.size === kinds.length) return present;
  const sorted = [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind);
  return { ...present, [kindsKey]: sorted };
}

function kindText(gvk: unknown): string {
  const { group, version, kind } = (gvk ?? {}) as Readonly<Record<string, unknown>>;
  return `${String(group)}/${String(version)}.${String(kind)}`;
}

function prefixed(place: string, names: ReadonlyMap<string, string>): [string, string][] {
  return [...names].map(([name, newName]) => [`#/${place}/${name}`, `#/${place}/${newName}`]);
}

/** The part with other references; itself if there are none to be changed. */
function withReferences(part: SwaggerPart, changes: ReadonlyMap<string, string>): SwaggerPart {
  if (changes.size === 0) return part;
  const copy = deepCopy(part);
  const open: unknown[] = [copy.paths, copy.definitions, copy.parameters];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const [key, member] of Object.entries(next)) {
      const changed = key === '$ref' && typeof member === 'string' ? changes.get(member) : undefined;
      if (changed === undefined) open.push(member);
      else (next as JsonSchema)['$ref'] = changed;
    }
  }
  return copy;
}
