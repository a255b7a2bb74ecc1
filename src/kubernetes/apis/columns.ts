import type { KubeObject } from '#apimachinery/meta/types';
import type { Column } from '#apiserver/registry/resource-definition';
import { type ColumnOptions, TableColumn } from '#apiserver/registry/table-columns';
import type { Container, PodTemplateSpec } from '#kubernetes/schema/core_v1.gen';
import { tables } from '#kubernetes/schema/schema';
import type { LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';

type Value<T extends KubeObject, V> = (object: T, context: { readonly now: number }) => V;
type Description = string | (() => string);

/**
 * Returns upstream's description of a field: `describe('core_v1.PodStatus', 'podIP')`; empty for unknown fields. The list of values that
 * OpenAPI adds is left out.
 */
export function describe(type: string, field: string): () => string {
  return () => (tables.description(type)?.[1][field] ?? '').replace(/\n{1,2}Possible enum values:[\s\S]*$/, '');
}

export function stringColumn<T extends KubeObject>(
  name: string,
  description: Description,
  value: Value<T, string | number | boolean>,
  options?: ColumnOptions,
): Column<T> {
  return new TableColumn(name, 'string', description, value, options);
}

export function integerColumn<T extends KubeObject>(
  name: string,
  description: Description,
  value: Value<T, number>,
  options?: ColumnOptions,
): Column<T> {
  return new TableColumn(name, 'integer', description, value, options);
}

export function booleanColumn<T extends KubeObject>(
  name: string,
  description: Description,
  value: Value<T, boolean | string>,
  options?: ColumnOptions,
): Column<T> {
  return new TableColumn(name, 'boolean', description, value, options);
}

/** Columns that only `kubectl get -o wide` shows. */
export const wide: ColumnOptions = { priority: 1 };

/** The two wide columns of kinds with a pod template. */
export function containerColumns<T extends KubeObject>(
  template: (object: T) => PodTemplateSpec | undefined,
  options: ColumnOptions = wide,
): Column<T>[] {
  const list = (object: T, field: (container: Container) => string | undefined) =>
    (template(object)?.spec?.containers ?? []).map((container) => field(container) ?? '').join(',');
  return [
    stringColumn(
      'Containers',
      'Names of each container in the template.',
      (object) => list(object, (container) => container.name),
      options,
    ),
    stringColumn(
      'Images',
      'Images referenced by each container in the template.',
      (object) => list(object, (container) => container.image),
      options,
    ),
  ];
}

/** Formats labels as `a=b,c=d` in key order, `<none>` if there are none. Upstream: apimachinery/pkg/labels, FormatLabels. */
export function formatLabels(labels: Readonly<Record<string, string>> | undefined): string {
  return (
    Object.keys(labels ?? {})
      .sort(compareBytes)
      .map((key) => `${key}=${labels?.[key] ?? ''}`)
      .join(',') || '<none>'
  );
}

/** Formats a selector in the syntax of `labelSelector`; `<error>` for an unknown operator, `''` if it matches everything. */
export function labelSelectorText(selector: LabelSelector | undefined): string {
  const requirements: [string, string][] = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => [key, `${key}=${value}`]);
  for (const { key = '', operator, values = [] } of selector?.matchExpressions ?? []) {
    const set = `(${[...values].sort(compareBytes).join(',')})`;
    switch (operator) {
      case 'In':
        requirements.push([key, `${key} in ${set}`]);
        break;
      case 'NotIn':
        requirements.push([key, `${key} notin ${set}`]);
        break;
      case 'Exists':
        requirements.push([key, key]);
        break;
      case 'DoesNotExist':
        requirements.push([key, `!${key}`]);
        break;
      default:
        return '<error>';
    }
  }
  return requirements
    .sort(([a], [b]) => compareBytes(a, b))
    .map(([, text]) => text)
    .join(',');
}

/**
 * Like `labelSelectorText`, but `<none>` for a selector that is absent or empty. Upstream: apimachinery/pkg/apis/meta/v1,
 * FormatLabelSelector.
 */
export function formatLabelSelector(selector: LabelSelector | undefined): string {
  return labelSelectorText(selector) || '<none>';
}

/** Compares as Go compares strings: by their UTF-8 bytes. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0;
  return /[^\x20-\x7e]/.test(a) || /[^\x20-\x7e]/.test(b) ? Buffer.compare(Buffer.from(a), Buffer.from(b)) : a < b ? -1 : 1;
}

/** Formats the first items of a list and the number of further ones; `<unset>` if there are none. */
export function listWithMore(items: readonly string[], max = 3): string {
  const text = items.slice(0, max).join(',');
  if (items.length > max) return `${text} + ${items.length - max} more...`;
  return text || '<unset>';
}

/** Formats a boolean as upstream prints a *bool. */
export function boolText(value: boolean | undefined): string {
  return value === undefined ? '<unset>' : value ? 'True' : 'False';
}
