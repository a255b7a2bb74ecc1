import { newBadRequest } from '#apimachinery/api/errors';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import { encode } from '#apimachinery/runtime/codec';
import { encodeJson, encodeString } from '#apimachinery/runtime/json';
import { quote } from '#apimachinery/runtime/quote';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import { defaultColumns } from '#apiserver/registry/table-columns';
import type { Column } from '#apiserver/registry/resource-definition';
import { encodePartial } from './partial.ts';
import { fromStorage, type ResourceEndpoint } from './resource-endpoint.ts';

type IncludeObject = 'None' | 'Metadata' | 'Object';
export interface TableOptions {
  readonly includeObject: IncludeObject;
}

/** `?includeObject=`: what each row carries of its object. */
export function tableOptions(context: RequestContext): TableOptions {
  const value = context.query === '' ? '' : (context.searchParams.get('includeObject') ?? '');
  if (value !== '' && value !== 'None' && value !== 'Metadata' && value !== 'Object') {
    throw newBadRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${quote(value)}: must be 'Metadata', 'Object', 'None', or empty`,
    );
  }
  return { includeObject: value || 'Metadata' };
}

export function columnsOf({ columns }: ResourceEndpoint): readonly Column[] {
  return columns.length > 0 ? columns : defaultColumns;
}

/** A table of objects in the storage version. Upstream: endpoints/handlers/response.go (asTable). */
export function encodeTable(
  endpoint: ResourceEndpoint,
  objects: readonly KubeObject[],
  metadata: ListMeta,
  options: TableOptions,
  version: string,
  withHeaders = true,
): string {
  const columns = columnsOf(endpoint);
  const rows = objects.map((object) => encodeRow(endpoint, columns, object, options, version));
  return `${tableHead(version, metadata, columns, withHeaders)}${rows.join(',')}]}`;
}

/** One row: `{"cells":[…],"conditions":[…],"object":{…}}`. */
export function encodeRow(
  endpoint: ResourceEndpoint,
  columns: readonly Column[],
  object: KubeObject,
  { includeObject }: TableOptions,
  version: string,
): string {
  const context = { now: Date.now() };
  const cells = columns.map((column) => encodeJson(column.value(object, context))).join(',');
  const conditions = endpoint.definition.rowConditions?.(object) ?? [];
  const shown =
    includeObject === 'None'
      ? 'null'
      : includeObject === 'Object'
        ? encode(endpoint.type, fromStorage(endpoint, object))
        : encodePartial(fromStorage(endpoint, object), version);
  return `{"cells":[${cells}],${conditions.length > 0 ? `"conditions":${encodeConditions(conditions)},` : ''}"object":${shown}}`;
}

function encodeConditions(conditions: readonly object[]): string {
  const type = metaSchema.struct('meta_v1.TableRowCondition');
  return `[${conditions.map((condition) => encode(type, condition)).join(',')}]`;
}

/** All before the first row. */
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
