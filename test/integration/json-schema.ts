/** The keywords of JSON Schema that docs/reference/explanation.schema.json uses. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean;
  readonly items?: JsonSchema;
  readonly [annotation: string]: unknown;
}

const known = [
  'type',
  'const',
  'enum',
  'required',
  'properties',
  'additionalProperties',
  'items',
  '$schema',
  '$id',
  'title',
  'description',
];

/** Returns the violations of a schema, one line each. Throws for a keyword that it does not know. */
export function schemaProblems(schema: JsonSchema, value: unknown, path = ''): string[] {
  const unknown = Object.keys(schema).filter((keyword) => !known.includes(keyword));
  if (unknown.length > 0) throw new Error(`unknown keywords ${unknown.join(', ')} at ${path}`);
  const problems: string[] = [];
  const { type, enum: values, required = [], properties = {}, additionalProperties = true, items } = schema;
  if (type !== undefined && ![type].flat().includes(typeOf(value))) return [`${path}: is ${typeOf(value)}`];
  if ('const' in schema && schema.const !== value) problems.push(`${path}: is not ${String(schema.const)}`);
  if (values && !values.includes(value)) problems.push(`${path}: is not one of ${values.join(', ')}`);
  if (typeOf(value) === 'object') {
    const members = value as Readonly<Record<string, unknown>>;
    problems.push(...required.filter((name) => !(name in members)).map((name) => `${path}: lacks ${name}`));
    for (const [name, member] of Object.entries(members)) {
      const own = properties[name];
      if (own) problems.push(...schemaProblems(own, member, `${path}.${name}`));
      else if (!additionalProperties) problems.push(`${path}: has the unknown member ${name}`);
    }
  }
  if (Array.isArray(value) && items) problems.push(...value.flatMap((item, i) => schemaProblems(items, item, `${path}[${i}]`)));
  return problems;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
