import { Buffer } from 'node:buffer';
import { newBadRequest } from '#apimachinery/api/errors';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import { encode } from '#apimachinery/runtime/encode';
import { encodeJson, encodeString } from '#apimachinery/runtime/json/json';
import type { RequestContext } from '#apiserver/request/request-context';
import { defaultColumns } from '#apiserver/registry/table-columns';
import type { Column } from '#apiserver/registry/resource-definition';
import { partialBytes, rowPartial } from './partial.ts';
import { fromStorage, type ResourceEndpoint, type StoredObject } from './resource-endpoint.ts';

type IncludeObject = 'None' | 'Metadata' | 'Object';
export interface TableOptions {
  readonly includeObject: IncludeObject;
}

/** Parses `?includeObject=`: the form of the object in each row. */
export function tableOptions(context: RequestContext): TableOptions {
  const value = context.query === '' ? '' : (context.searchParams.get('includeObject') ?? '');
  if (value !== '' && value !== 'None' && value !== 'Metadata' && value !== 'Object') {
    throw newBadRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${encodeString(value)}: must be 'Metadata', 'Object', 'None', or empty`,
    );
  }
  return { includeObject: value || 'Metadata' };
}

export function columnsOf({ columns }: ResourceEndpoint): readonly Column[] {
  return columns.length > 0 ? columns : defaultColumns;
}

/** Encodes a table of objects in the storage version. Upstream: endpoints/handlers/response.go (asTable). */
export function encodeTable(
  endpoint: ResourceEndpoint,
  objects: readonly KubeObject[],
  metadata: ListMeta,
  options: TableOptions,
  version: string,
  withHeaders = true,
): string {
  const columns = columnsOf(endpoint);
  const now = Date.now();
  const rows = objects.map((object) => {
    const shown = fromStorage(endpoint, object);
    const cells = encodeCells(endpoint, columns, object, now);
    if (options.includeObject === 'None') return `${cells}null}`;
    return `${cells}${options.includeObject === 'Object' ? encode(endpoint.type, shown) : rowPartial(endpoint, object, shown, version)}}`;
  });
  return `${tableHead(version, metadata, columns, withHeaders)}${rows.join(',')}]}`;
}

const rowEnd = Buffer.from('}');

/**
 * Encodes the row of an object with its stored bytes: `{"cells":[…],"conditions":[…],"object":{…}}`. `now` is in milliseconds since
 * the epoch.
 */
export function encodeRow(
  endpoint: ResourceEndpoint,
  object: StoredObject,
  { includeObject }: TableOptions,
  version: string,
  now: number,
): Buffer {
  const cells = encodeCells(endpoint, columnsOf(endpoint), object.object, now);
  if (includeObject === 'None') return Buffer.from(`${cells}null}`);
  if (includeObject === 'Object') return Buffer.from(`${cells}${encode(endpoint.type, fromStorage(endpoint, object.object))}}`);
  return Buffer.concat([Buffer.from(cells), partialBytes(endpoint, object, version), rowEnd]);
}

/** Encodes the part of a row before its object. */
function encodeCells(endpoint: ResourceEndpoint, columns: readonly Column[], object: KubeObject, now: number): string {
  const context = { now };
  const cells = columns.map((column) => encodeJson(column.value(object, context))).join(',');
  const conditions = endpoint.definition.rowConditions?.(object) ?? [];
  return `{"cells":[${cells}],${conditions.length > 0 ? `"conditions":${encodeConditions(conditions)},` : ''}"object":`;
}

function encodeConditions(conditions: readonly object[]): string {
  const type = metaSchema.struct('meta_v1.TableRowCondition');
  return `[${conditions.map((condition) => encode(type, condition)).join(',')}]`;
}

/** Encodes the part of a table before its first row. */
export function tableHead(version: string, metadata: ListMeta, columns: readonly Column[], withHeaders = true): string {
  const meta = encode(metaSchema.struct('meta_v1.ListMeta'), metadata);
  const definitions = withHeaders
    ? `[${columns
        .filter((column) => !column.cellOnly)
        .map(encodeColumn)
        .join(',')}]`
    : 'null';
  return `{"kind":"Table","apiVersion":"meta.k8s.io/${version}","metadata":${meta},"columnDefinitions":${definitions},"rows":[`;
}

function encodeColumn({ name, type, format, description, priority }: Column): string {
  return `{"name":${encodeString(name)},"type":${encodeString(type)},"format":${encodeString(format ?? '')},"description":${encodeString(description)},"priority":${priority ?? 0}}`;
}
