import { metaTables } from '#apimachinery/meta/schema/tables';
import type { KubeObject } from '#apimachinery/meta/types';
import { humanDuration } from '#apimachinery/runtime/duration';
import type { JsonNumber } from '#apimachinery/runtime/numbers';
import type { Column, ColumnContext } from './resource-definition.ts';

export type Cell = string | JsonNumber | boolean | null;
type Value<T extends KubeObject> = (object: T, context: ColumnContext) => Cell;

export interface ColumnOptions {
  readonly format?: string;
  /** 0: always shown; 1: shown by `kubectl get -o wide`. */
  readonly priority?: number;
  readonly cellOnly?: boolean;
}

/** A column whose description can be computed lazily, when a Table is first requested. */
export class TableColumn<T extends KubeObject = KubeObject> implements Column<T> {
  readonly format: string;
  readonly priority: number;
  readonly cellOnly: boolean;
  readonly #describe: string | (() => string);
  readonly #value: Value<T>;

  constructor(
    readonly name: string,
    readonly type: Column['type'],
    describe: string | (() => string),
    value: Value<T>,
    options: ColumnOptions = {},
  ) {
    this.format = options.format ?? '';
    this.priority = options.priority ?? 0;
    this.cellOnly = options.cellOnly ?? false;
    this.#describe = describe;
    this.#value = value;
  }

  get description(): string {
    return typeof this.#describe === 'string' ? this.#describe : this.#describe();
  }

  value(object: T, context: ColumnContext): Cell {
    return this.#value(object, context);
  }
}

/** Returns upstream's description of a metadata field; empty for unknown fields. */
export function describeMeta(field: string): () => string {
  return () => metaTables.description('meta_v1.ObjectMeta')?.[1][field] ?? '';
}

/** Formats `since` (RFC 3339) as an age; `<unknown>` if it is undefined. */
export function translateTimestampSince(since: string | undefined, now: number): string {
  return since ? humanDuration(now - Date.parse(since)) : '<unknown>';
}

export const nameColumn: Column = new TableColumn('Name', 'string', describeMeta('name'), (object) => object.metadata.name ?? '', {
  format: 'name',
});

export const ageColumn: Column = new TableColumn('Age', 'string', describeMeta('creationTimestamp'), (object, { now }) =>
  translateTimestampSince(object.metadata.creationTimestamp, now),
);

export const createdAtColumn: Column = new TableColumn(
  'Created At',
  'date',
  describeMeta('creationTimestamp'),
  (object) => object.metadata.creationTimestamp ?? null,
);

/** The columns of kinds without their own. Upstream: apiserver/pkg/registry/rest/table.go. */
export const defaultColumns: readonly Column[] = [nameColumn, createdAtColumn];
