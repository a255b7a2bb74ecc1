import { basename, dirname, resolve } from 'node:path';
import { isMap, isScalar, isSeq, type ParsedNode } from 'yaml';
import { errorMessage, readText } from '#apiserver/base/system-error';
import type { JsonPatchOperation } from '#apimachinery/patch/create-patch';
import { type FieldError, fieldPath, invalid, notSupported, type Path, required } from '#apimachinery/validation/field';
import { FieldReader } from '#cmd/config/structured-file';
import type { PlayedUser } from '#cmd/explain/play-request';
import { verdicts } from '#cmd/explain/verdict';
import { filesOf, parseDocuments, type SourceDocument } from '#cmd/objects/documents';
import { nearestName } from '#cmd/options/nearest-name';
import { ObjectReferences } from './object-references.ts';
import {
  apiVersion,
  type ExpectedOutcome,
  kind,
  operations,
  type PolicyTest,
  PolicyTestError,
  type PolicyTestFile,
  type TextPattern,
  textPattern,
} from './policy-test.ts';

/**
 * Reads the documents of kind PolicyTest in files and folders. Other documents are left alone: objects, configurations. Rejects with a
 * PolicyTestError that has all problems.
 */
export async function readPolicyTests(paths: readonly string[]): Promise<PolicyTestFile[]> {
  const problems: string[] = [];
  const found: PolicyTestFile[] = [];
  for (const path of paths) {
    const files = await filesOf(path).catch((error: unknown) => {
      problems.push(errorMessage(error));
      return [];
    });
    for (const file of files) found.push(...(await readFileOfTests(file, file === path, problems)));
  }
  if (problems.length === 0 && found.length === 0)
    problems.push(`${paths.join(', ')}: has no document of kind ${kind}, apiVersion ${apiVersion}`);
  if (problems.length > 0) throw new PolicyTestError(problems);
  return found;
}

/** Returns the tests of a file. `isNamed`: the user names the file itself, and not its folder. */
async function readFileOfTests(file: string, isNamed: boolean, problems: string[]): Promise<PolicyTestFile[]> {
  const text = await readText(file);
  // Folders also have files that are not plain YAML, such as templates.
  if (!isNamed && !text.includes('kubenest.dev/')) return [];
  let documents: readonly SourceDocument[];
  try {
    documents = parseDocuments(text, file);
  } catch (error) {
    problems.push(errorMessage(error));
    return [];
  }
  const found: PolicyTestFile[] = [];
  for (const document of documents) {
    const given = kindOf(document.value);
    if (given.apiVersion === apiVersion && given.kind === kind) found.push(await readDocument(document, problems));
    else if (given.apiVersion.startsWith('kubenest.dev/') && nearestName(given.kind, [kind]) !== undefined)
      problems.push(`${file}:${document.line}: must be of kind ${kind}, apiVersion ${apiVersion}`);
  }
  return found;
}

function kindOf(value: unknown): { readonly apiVersion: string; readonly kind: string } {
  const { apiVersion: version, kind: name } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return { apiVersion: String(version), kind: String(name) };
}

async function readDocument(document: SourceDocument, problems: string[]): Promise<PolicyTestFile> {
  const errors: FieldError[] = [];
  const fields = new FieldReader(document.value, undefined, errors);
  fields.text('apiVersion');
  fields.text('kind');
  const metadata = fields.object('metadata');
  const name = optionalText(metadata, 'name') ?? basename(document.file);
  metadata.done();
  const folder = dirname(document.file);
  const config = optionalText(fields, 'config');
  const plugins = fields.value('plugins');
  if (config !== undefined && plugins !== undefined) errors.push(invalid(fields.at('plugins'), plugins, 'cannot be combined with config'));
  const references = new ObjectReferences(folder, errors);
  const existing = await references.list(fields, 'existing');
  const shared = { user: userOf(fields), clock: clockOf(fields) };
  const tests: PolicyTest[] = [];
  const readers = fields.objects('tests');
  if (readers.length === 0) errors.push(required(fieldPath('tests'), ''));
  for (const reader of readers) tests.push(await new TestReader(reader, references, errors).read(document, shared));
  fields.done();
  const names = tests.map((test) => test.name);
  tests.forEach((test, i) => {
    if (test.name !== '' && names.indexOf(test.name) < i)
      errors.push(invalid(fieldPath('tests').index(i).child('name'), test.name, 'another test has this name'));
  });
  for (const error of errors) problems.push(`${document.file}:${lineOf(document, error.field)}: ${error.toString()}`);
  return { file: document.file, name, config: config && resolve(folder, config), plugins, existing, tests };
}

/** Members of the document that apply to tests without their own. */
interface Shared {
  readonly user: PlayedUser | undefined;
  readonly clock: number | undefined;
}

/** Reads one item of `tests`. */
class TestReader {
  constructor(
    readonly fields: FieldReader,
    readonly references: ObjectReferences,
    readonly errors: FieldError[],
  ) {}

  async read(document: SourceDocument, shared: Shared): Promise<PolicyTest> {
    const { fields, references, errors } = this;
    const name = fields.requiredText('name');
    const given = choice(fields, 'operation', operations, errors);
    const object = await references.one(fields, 'object', given === 'CONNECT');
    const oldObject = await references.one(fields, 'oldObject');
    const operation = given ?? (oldObject ? 'UPDATE' : 'CREATE');
    this.#checkObjects(operation, { hasObject: fields.has('object'), hasOld: fields.has('oldObject') });
    const test: PolicyTest = {
      name,
      line: lineOf(document, String(fields.path)),
      operation,
      object: (operation === 'DELETE' ? oldObject : object) ?? { apiVersion: '', kind: '', metadata: {} },
      oldObject,
      resource: optionalText(fields, 'resource'),
      subresource: optionalText(fields, 'subresource'),
      dryRun: fields.flag('dryRun', true),
      user: userOf(fields) ?? shared.user,
      clock: clockOf(fields) ?? shared.clock,
      existing: await references.list(fields, 'existing'),
      expected: this.#expected(),
    };
    if (operation === 'CONNECT')
      for (const member of ['resource', 'subresource'] as const)
        if (test[member] === undefined) errors.push(required(fields.at(member), ''));
    fields.done();
    return test;
  }

  #checkObjects(
    operation: PolicyTest['operation'],
    { hasObject, hasOld }: { readonly hasObject: boolean; readonly hasOld: boolean },
  ): void {
    const { fields, errors } = this;
    const wanted = operation === 'DELETE' ? 'oldObject' : 'object';
    if (!(operation === 'DELETE' ? hasOld : hasObject)) errors.push(required(fields.at(wanted), `${operation} needs it`));
    if (operation === 'DELETE' && hasObject) errors.push(invalid(fields.at('object'), '', 'DELETE has only an oldObject'));
    if ((operation === 'CREATE' || operation === 'CONNECT') && hasOld)
      errors.push(invalid(fields.at('oldObject'), '', `${operation} has no oldObject; objects that exist belong into existing`));
  }

  #expected(): ExpectedOutcome {
    const { errors } = this;
    if (!this.fields.has('expect')) errors.push(required(this.fields.at('expect'), ''));
    const fields = this.fields.object('expect');
    const verdict = choice(fields, 'verdict', verdicts, errors);
    if (verdict === undefined && this.fields.has('expect') && !fields.has('verdict')) errors.push(required(fields.at('verdict'), ''));
    const expected: ExpectedOutcome = {
      verdict: verdict ?? 'admitted',
      by: optionalText(fields, 'by'),
      code: fields.number('code'),
      message: fields.has('message') ? this.#pattern(fields.requiredText('message'), fields.at('message')) : undefined,
      warnings: fields.has('warnings')
        ? fields.texts('warnings').map((text, i) => this.#warning(text, fields.at('warnings').index(i)))
        : undefined,
      patch: this.#patch(fields),
      object: this.#partialObject(fields),
    };
    const isRefused = verdict === 'denied' || verdict === 'failed';
    if (verdict !== undefined && !isRefused && expected.by !== undefined)
      errors.push(invalid(fields.at('by'), expected.by, `nothing denies the request if the verdict is ${verdict}`));
    if (verdict !== undefined && verdict !== 'admitted' && expected.object)
      errors.push(invalid(fields.at('object'), '', `there is no object if the verdict is ${verdict}`));
    fields.done();
    return expected;
  }

  #partialObject(fields: FieldReader): object | undefined {
    const value = fields.value('object');
    if (value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value))) return value;
    this.errors.push(invalid(fields.at('object'), value, 'must be an object'));
    return undefined;
  }

  #patch(fields: FieldReader): ExpectedOutcome['patch'] {
    const value = fields.value('patch');
    if (value === undefined) return undefined;
    const path = fields.at('patch');
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.errors.push(invalid(path, value, 'must be an object: a list of operations by the name of the plugin'));
      return undefined;
    }
    const plugins = new FieldReader(value, path, this.errors);
    return new Map(Object.keys(value).map((name) => [name, plugins.objects(name).map((operation) => this.#operation(operation))]));
  }

  #operation(fields: FieldReader): JsonPatchOperation {
    const op = choice(fields, 'op', ['add', 'remove', 'replace'] as const, this.errors);
    if (!fields.has('op')) this.errors.push(required(fields.at('op'), ''));
    const path = fields.text('path');
    const value = fields.value('value');
    if (op !== undefined && op !== 'remove' && value === undefined) this.errors.push(required(fields.at('value'), ''));
    fields.done();
    return (op === 'remove' ? { op, path } : { op: op ?? 'add', path, value }) as JsonPatchOperation;
  }

  #warning(text: string, path: Path): TextPattern {
    if (text === '') this.errors.push(required(path, ''));
    return this.#pattern(text, path);
  }

  #pattern(text: string, path: Path): TextPattern {
    try {
      return textPattern(text);
    } catch (error) {
      this.errors.push(invalid(path, text, errorMessage(error)));
      return textPattern('');
    }
  }
}

/** Reads a text; undefined if it is absent. An empty one is an error. */
function optionalText(fields: FieldReader, name: string): string | undefined {
  return (fields.has(name) && fields.requiredText(name)) || undefined;
}

/** Reads one of some texts; undefined if it is absent or another one. */
function choice<T extends string>(fields: FieldReader, name: string, choices: readonly T[], errors: FieldError[]): T | undefined {
  if (!fields.has(name)) return undefined;
  const value = fields.value(name);
  const found = choices.find((one) => one === value);
  if (found === undefined) errors.push(notSupported(fields.at(name), value, choices));
  return found;
}

function userOf(fields: FieldReader): PlayedUser | undefined {
  if (!fields.has('user')) return undefined;
  const user = fields.object('user');
  const uid = optionalText(user, 'uid');
  const extra = user.value('extra');
  const values = new FieldReader(extra, user.at('extra'), user.errors);
  const read = {
    name: user.requiredText('name'),
    groups: user.texts('groups'),
    ...(uid !== undefined && { uid }),
    extra: Object.fromEntries(Object.keys((extra as object | undefined) ?? {}).map((key) => [key, values.texts(key)])),
  };
  user.done();
  return read;
}

function clockOf(fields: FieldReader): number | undefined {
  const text = optionalText(fields, 'clock');
  if (text === undefined) return undefined;
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  fields.errors.push(invalid(fields.at('clock'), text, 'must be a time such as 2027-03-31T00:00:00Z'));
  return undefined;
}

/** Returns the line of a field, given as `tests[0].expect.verdict`; of an absent one, the line of what it belongs to. */
function lineOf({ document, lines, line }: SourceDocument, field: string): number {
  let node: ParsedNode | null = document.contents;
  let offset = node?.range[0];
  for (const segment of field.split(/[.[\]]+/).filter((part) => part !== '')) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === segment);
      if (!pair) break;
      offset = (pair.key as ParsedNode).range[0];
      node = pair.value as ParsedNode | null;
    } else if (isSeq(node)) {
      node = (node.items[Number(segment)] as ParsedNode | undefined) ?? null;
      if (!node) break;
      offset = node.range[0];
    } else break;
  }
  return offset === undefined ? line : lines.linePos(offset).line;
}
