import { JsonPath, JsonPathError } from '#apimachinery/fields/json-path';
import type { KubeObject } from '#apimachinery/meta/types';
import { encodeJson } from '#apimachinery/runtime/json/json';
import { formatNumber, isContainer, isInt64, isNumber, toInt64 } from '#apimachinery/runtime/numbers';
import type { Column } from '#apiserver/registry/resource-definition';
import { type Cell, describeMeta, nameColumn, TableColumn, translateTimestampSince } from '#apiserver/registry/table-columns';
import type { CustomResourceColumnDefinition } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';

const age: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  description: describeMeta('creationTimestamp')(),
  jsonPath: '.metadata.creationTimestamp',
};

const desired = { name: 'Desired', type: 'integer', description: 'Number of desired replicas', jsonPath: '.spec.replicas' };
const available = { name: 'Available', type: 'integer', description: 'Number of actual replicas', jsonPath: '.status.replicas' };

/** Columns of the Scale of custom resources. Upstream: apiextensions-apiserver/pkg/apiserver/helpers.go (getScaleColumnsForVersion). */
export const scaleColumns: readonly Column[] = customColumns([desired, available, age]);

/**
 * Returns the columns of a version: the name, and the columns of the definition, or without these the age. As upstream, a malformed path
 * ends the list. Upstream: registry/customresource/tableconvertor.
 */
export function customColumns(definitions: readonly CustomResourceColumnDefinition[] | undefined): Column[] {
  const columns: Column[] = [nameColumn];
  for (const definition of definitions?.length ? definitions : [age]) {
    const { name = '', type = '', format = '', description = '', priority = 0, jsonPath = '' } = definition;
    let path: JsonPath;
    try {
      path = new JsonPath(jsonPath);
    } catch (error) {
      if (error instanceof JsonPathError) break;
      throw error;
    }
    const described = description || `Custom resource definition column (in JSONPath format): ${jsonPath}`;
    columns.push(
      new TableColumn(
        name,
        type as Column['type'],
        described,
        (object: KubeObject, { now }) => {
          const [value] = path.find(object);
          return value === undefined ? null : cellOf(type, value, now);
        },
        { format, priority },
      ),
    );
  }
  return columns;
}

function cellOf(type: string, value: unknown, now: number): Cell {
  if (type === 'string') return printed(value);
  if (value === null) return null;
  switch (type) {
    case 'integer':
      return isNumber(value) ? toInt64(value) : null;
    case 'number':
      return isNumber(value) ? (isInt64(value) ? Number(value) : value) : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? since(value, now) : null;
    default:
      return null;
  }
}

function since(time: string, now: number): string {
  if (time === '' || time === 'null') return '<unknown>';
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/.test(time) && !Number.isNaN(Date.parse(time));
  return isTime ? translateTimestampSince(time, now) : '<invalid>';
}

/** Formats a value as fmt.Print does; lists and objects as JSON. */
export function printed(value: unknown): string {
  if (value === null) return '<no value>';
  if (isContainer(value)) return encodeJson(value);
  return isNumber(value) ? formatNumber(value) : String(value);
}
