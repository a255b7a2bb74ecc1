/**
 * Adds documents of other servers to a joined OpenAPI 2.0 document. Definitions whose name has another meaning are renamed to
 * `<name>_v2`, `_v3`. Upstream: kube-openapi/pkg/aggregator/aggregator.go (mergeSpecs).
 */
import type { JsonSchema } from '#apimachinery/openapi/schemas';
import type { SwaggerParameter, SwaggerPart } from '#apimachinery/openapi/swagger';
import { deepCopy } from '#apimachinery/runtime/copy';
import { deepEqual } from '#apimachinery/runtime/equality';

const kindsKey = 'x-kubernetes-group-version-kind';

/** Joined definitions and parameters by name, with which a part is compared. */
export interface JoinedParts {
  readonly definitions: Map<string, JsonSchema>;
  readonly parameters: Map<string, SwaggerParameter>;
}

/** The added part of a document. */
export interface AddedPart {
  readonly paths: Readonly<Record<string, JsonSchema>>;
  /** Added definitions, including existing ones that now have more kinds. */
  readonly definitions: ReadonlyMap<string, JsonSchema>;
}

/** Adds a part with renamed conflicts. The part itself is not modified. */
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

/** Returns new names for conflicting definitions; an equal definition that was renamed before keeps that name. */
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

/** Adds the kinds of another definition; returns the same object if it has them already. */
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

/** Replaces references of a part; returns the same object if nothing changes. */
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
