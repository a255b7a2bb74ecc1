/**
 * Decodes objects of manifests strictly, applies defaults and validates them like the API. Upstream:
 * kubernetes/pkg/admission/plugin/{webhook,policy}/manifest/loader.
 */
import type { Buffer } from 'node:buffer';
import { type GroupVersionKind, groupVersionString, type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import { isJsonObject, type JsonObject } from '#apimachinery/patch/own-property';
import { decode } from '#apimachinery/runtime/decode';
import { parseJson } from '#apimachinery/runtime/json/json';
import { JsonSyntaxError } from '#apimachinery/runtime/json/json-syntax';
import { parseYaml } from '#apimachinery/runtime/yaml/yaml';
import { aggregate, fieldPath } from '#apimachinery/validation/field';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { validateObjectMeta } from '#apimachinery/validation/object-meta';
import { noKindRegistered, typeMetaProblem } from '#apiserver/registry/kinds';
import { strictErrors } from '#apimachinery/runtime/json/strict-errors';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import type { Scheme } from '#apiserver/registry/scheme';

const group = 'admissionregistration.k8s.io';

/** A parsed document; `text` and `duplicates` belong to the whole document. */
interface Parsed {
  readonly value: unknown;
  readonly text: string;
  readonly duplicates: readonly string[];
}

/** Parses a document as JSON if it is JSON, otherwise as YAML. Upstream: serializer/recognizer. */
function parse(bytes: Buffer): Parsed {
  const text = bytes.toString('utf8');
  try {
    const { value, duplicateFields } = parseJson(bytes);
    if (isJsonObject(value)) return { value, text, duplicates: strictErrors([], duplicateFields) };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
  }
  const { value, duplicateError } = parseYaml(bytes);
  return { value, text, duplicates: duplicateError === undefined ? [] : [duplicateError] };
}

export class ManifestCodec {
  constructor(readonly scheme: Scheme) {}

  /**
   * Yields the object of a document, or those of its list. Throws an Error in upstream's words unless each has one of the `kinds`
   * of admissionregistration.k8s.io/v1.
   */
  *read(bytes: Buffer, kinds: readonly string[]): Generator<KubeObject> {
    const open: Parsed[] = [parse(bytes)];
    for (let depth = 0; open.length > 0; depth += 1) {
      const next = open.pop() as Parsed;
      if (!isGenericList(next)) yield* depth === 0 ? this.#objects(next, kinds) : listItem(() => [...this.#objects(next, kinds)]);
      else for (const item of itemsOf(next).toReversed()) open.push(item);
    }
  }

  #objects(parsed: Parsed, kinds: readonly string[]): KubeObject[] {
    const kind = kindOf(parsed);
    const listed = kind.kind.endsWith('List') ? kind.kind.slice(0, -'List'.length) : undefined;
    const definition = this.#definition({ ...kind, kind: listed ?? kind.kind });
    if (!definition) throw new NotDecoded(unknownKind(kind));
    const document = parsed.value as JsonObject;
    const values = listed === undefined ? [document] : Array.isArray(document['items']) ? (document['items'] as unknown[]) : [];
    const type = this.scheme.schemasOf(group).struct(definition.schema);
    const unknown: string[] = [];
    const objects = values.map((value, at) => {
      const decoded = asNotDecoded(() => decode<KubeObject>(type, value));
      unknown.push(...decoded.unknownFields.map((path) => (listed === undefined ? path : `items[${at}].${path}`)));
      return { ...decoded.object, apiVersion: groupVersionString(kind), kind: definition.kind, metadata: decoded.object.metadata ?? {} };
    });
    const errors = [...parsed.duplicates, ...strictErrors(unknown, [])];
    if (errors.length > 0) throw new NotDecoded(`strict decoding error: ${errors.join(', ')}`);
    if (kind.version !== 'v1' || !kinds.includes(definition.kind)) throw unsupported(kind);
    for (const object of objects) complete(definition, object);
    return objects;
  }

  #definition({ group: of, version, kind }: GroupVersionKind): ResourceDefinition | undefined {
    if (of !== group) return undefined;
    const known = this.scheme.known.find((one) => one.group === group);
    return known?.resources.find((definition) => definition.version === version && definition.kind === kind);
  }
}

/** A decoding error, to which list items add a prefix. */
class NotDecoded extends Error {}

function asNotDecoded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new NotDecoded((error as Error).message, { cause: error });
  }
}

function listItem<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof NotDecoded ? new Error(`failed to decode list item: ${error.message}`, { cause: error }) : error;
  }
}

function kindOf({ value, text }: Parsed): GroupVersionKind {
  const problem = typeMetaProblem(value);
  if (problem) throw new NotDecoded(`couldn't get version/kind; json parse error: ${problem}`);
  const { apiVersion = '', kind = '' } = (value ?? {}) as Partial<KubeObject>;
  if (!kind) throw new NotDecoded(`Object 'Kind' is missing in '${text}'`);
  if (!apiVersion) throw new NotDecoded(`Object 'apiVersion' is missing in '${text}'`);
  const found = { ...parseGroupVersion(apiVersion), kind };
  if (found.group === '' && found.version === 'v1' && kind === 'Status') throw unsupported(found);
  return found;
}

function isGenericList({ value }: Parsed): boolean {
  return isJsonObject(value) && value['apiVersion'] === 'v1' && value['kind'] === 'List';
}

function itemsOf({ value }: Parsed): Parsed[] {
  const items = (value as JsonObject)['items'];
  return (Array.isArray(items) ? (items as unknown[]) : []).map((item) => ({ value: item, text: JSON.stringify(item), duplicates: [] }));
}

/** Applies defaults and validates an object. Throws the Error that the API would return. */
function complete({ kind, defaults, strategy }: ResourceDefinition, object: KubeObject): void {
  defaults?.(object);
  const errors = [
    ...validateObjectMeta(
      object.metadata,
      { namespaced: false, nameFn: strategy.validateName ?? nameIsDNSSubdomain },
      fieldPath('metadata'),
    ),
    ...(strategy.validate?.(object, { namespace: '', user: { name: '', groups: [] }, dryRun: false, now: '' }) ?? []),
  ];
  if (errors.length > 0) throw new Error(`${kind} ${JSON.stringify(object.metadata.name ?? '')}: ${aggregate(errors)}`);
}

function unknownKind(kind: GroupVersionKind): string {
  return noKindRegistered(kind.kind, groupVersionString(kind));
}

function unsupported({ version, kind }: GroupVersionKind): Error {
  return new Error(`unsupported resource type *${version}.${kind}`);
}
