/** Returns the TypeScript type of a scalar of the tables; `unknown` for any other type. */
export function scalarType({ type, format }: { readonly type?: string; readonly format?: string }): string {
  switch (type) {
    case 'string':
      return format === 'int-or-string' ? 'number | string' : 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    default:
      return 'unknown';
  }
}
