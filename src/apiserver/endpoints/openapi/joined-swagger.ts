import { Buffer } from 'node:buffer';
import { gnosticDefinition, gnosticDocument, gnosticPath, type SwaggerHead } from '#apimachinery/openapi/gnostic-v2';
import type { JsonSchema } from '#apimachinery/openapi/schemas';
import { swaggerPart, type SwaggerParameter, type SwaggerPart } from '#apimachinery/openapi/swagger';
import { compareUtf8, encodeRawJson } from '#apimachinery/runtime/json/json';
import { addForeignPart } from './foreign-parts.ts';
import { type OpenApiAnswer, toAnswer } from './openapi-answer.ts';
import type { DocumentBuilder } from './document-builder.ts';
import { inSteps, type Steps } from '#apimachinery/runtime/steps';

/** Encoding of the joined document: paths and definitions one by one, then the whole. */
export interface SwaggerForm {
  path(path: string, item: JsonSchema): Buffer;
  definition(name: string, schema: JsonSchema): Buffer;
  document(head: SwaggerHead, paths: readonly Buffer[], definitions: readonly Buffer[]): Iterable<Buffer>;
}

/** Encoding as gnostic's `openapi.v2.Document`. */
export const gnosticForm: SwaggerForm = { path: gnosticPath, definition: gnosticDefinition, document: gnosticDocument };

/** Encoding as JSON; each member starts with the comma that separates it from the previous one. */
export const jsonForm: SwaggerForm = {
  path: jsonMember,
  definition: jsonMember,
  document: jsonDocument,
};

function jsonMember(name: string, value: JsonSchema): Buffer {
  return Buffer.from(`,${JSON.stringify(name)}:${plainText(encodeRawJson(value))}`);
}

const escapes: Readonly<Record<string, string>> = { u003c: '<', u003e: '>', u0026: '&', u2028: '\u2028', u2029: '\u2029' };

/**
 * Undoes the escapes of HTML, which this document lacks upstream. Upstream: kube-openapi/pkg/internal/serialization.go, by json-experiment.
 */
function plainText(json: string): string {
  return json.replace(/\\(u003c|u003e|u0026|u2028|u2029|.)/g, (found, name: string) => escapes[name] ?? found);
}

/** Returns the members in upstream's order. */
function jsonDocument(head: SwaggerHead, paths: readonly Buffer[], definitions: readonly Buffer[]): Buffer[] {
  const { info, parameters, securityDefinitions } = head;
  const security = Object.keys(securityDefinitions).map((name) => ({ [name]: [] }));
  return [
    Buffer.from(`{"swagger":"2.0","info":${JSON.stringify(info)},"paths":{`),
    ...withoutFirstComma(paths),
    Buffer.from('},"definitions":{'),
    ...withoutFirstComma(definitions),
    Buffer.from(`},${JSON.stringify({ parameters, securityDefinitions, security }).slice(1)}`),
  ];
}

function withoutFirstComma([first, ...members]: readonly Buffer[]): Buffer[] {
  return first ? [first.subarray(1), ...members] : [];
}

/** A named member. `bytes` is a buffer of its own until the document is joined, then a slice of the response. */
interface Entry {
  readonly name: string;
  bytes: Buffer;
}

interface Entries {
  readonly head: SwaggerHead;
  readonly paths: readonly Entry[];
  readonly definitions: readonly Entry[];
}

/**
 * Joins documents into one of OpenAPI 2.0. The encoded contribution of each document is cached, so that a change re-encodes only
 * the changed document. The cache shares memory with the response: with 1,000 custom resources the joined document has tens of
 * megabytes.
 */
export class JoinedSwagger {
  readonly #known = new WeakMap<DocumentBuilder, Entries>();
  readonly #foreign = new WeakMap<DocumentBuilder, SwaggerPart>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(readonly form: SwaggerForm) {}

  /**
   * Joins documents. If several have a path or definition, the first takes precedence; `foreign` documents come last, and their
   * conflicting definitions are renamed. Calls run one after the other, because each fills the cache for the next.
   */
  join(builders: readonly DocumentBuilder[], foreign: readonly DocumentBuilder[] = []): Promise<OpenApiAnswer> {
    const joined = this.#last.then(() => inSteps(this.#join(builders, foreign)));
    this.#last = joined.catch(() => undefined);
    return joined;
  }

  *#join(builders: readonly DocumentBuilder[], foreign: readonly DocumentBuilder[]): Steps<OpenApiAnswer> {
    const paths = new EntryTable();
    const definitions = new EntryTable();
    const heads: SwaggerHead[] = [];
    for (const builder of builders) {
      const known = this.#known.get(builder) ?? (yield* this.#make(builder));
      this.#known.set(builder, known);
      heads.push(known.head);
      paths.add(known.paths);
      definitions.add(known.definitions);
      yield;
    }
    if (foreign.length > 0) heads.push(...(yield* this.#addForeign(builders, foreign, { heads, paths, definitions })));
    const [ofPaths, ofDefinitions] = [paths.sorted(), definitions.sorted()];
    const byBytes = new Map([...ofPaths, ...ofDefinitions].map((entry) => [entry.bytes, entry]));
    const parts = this.form.document(joinedHead(heads), ofPaths.map(bytesOf), ofDefinitions.map(bytesOf));
    yield;
    const answer = yield* toAnswer(parts, (piece, ofPiece) => {
      let at = 0;
      for (const part of ofPiece) {
        const entry = byBytes.get(part);
        if (entry) entry.bytes = piece.subarray(at, at + part.length);
        at += part.length;
      }
    });
    paths.shareEqual();
    definitions.shareEqual();
    return answer;
  }

  /** Adds the documents of other servers and returns their heads. */
  *#addForeign(
    builders: readonly DocumentBuilder[],
    foreign: readonly DocumentBuilder[],
    { heads, paths, definitions }: { heads: readonly SwaggerHead[]; paths: EntryTable; definitions: EntryTable },
  ): Steps<SwaggerHead[]> {
    const parts: SwaggerPart[] = [];
    for (const builder of foreign) {
      const part = this.#foreign.get(builder) ?? (yield* swaggerPart(yield* builder()));
      this.#foreign.set(builder, part);
      parts.push(part);
    }
    const joined = {
      definitions: yield* this.#definitionsOf(builders, new Set(parts.flatMap((part) => Object.keys(part.definitions)))),
      parameters: parametersOf(heads),
    };
    const added: SwaggerHead[] = [];
    for (const part of parts) {
      const own = addForeignPart(part, joined);
      paths.add(yield* encoded(Object.entries(own.paths), this.form.path));
      definitions.put(yield* encoded(own.definitions, this.form.definition));
      added.push({ ...part, parameters: Object.fromEntries(joined.parameters) });
    }
    return added;
  }

  /** Returns definitions in unencoded form. They are built again, because the cache contains encoded ones only. */
  *#definitionsOf(builders: readonly DocumentBuilder[], names: Set<string>): Steps<Map<string, JsonSchema>> {
    const found = new Map<string, JsonSchema>();
    for (const builder of builders) {
      const wanted = (this.#known.get(builder)?.definitions ?? []).filter(({ name }) => names.has(name) && !found.has(name));
      if (wanted.length === 0) continue;
      const { definitions } = yield* swaggerPart(yield* builder());
      for (const { name } of wanted) found.set(name, definitions[name] as JsonSchema);
    }
    return found;
  }

  *#make(builder: DocumentBuilder): Steps<Entries> {
    const { info, paths, definitions, parameters, securityDefinitions } = yield* swaggerPart(yield* builder());
    return {
      head: { info, parameters, securityDefinitions },
      paths: yield* encoded(Object.entries(paths), this.form.path),
      definitions: yield* encoded(Object.entries(definitions), this.form.definition),
    };
  }
}

function* encoded(named: Iterable<[string, JsonSchema]>, encode: (name: string, value: JsonSchema) => Buffer): Steps<Entry[]> {
  const entries: Entry[] = [];
  for (const [name, value] of named) {
    entries.push({ name, bytes: encode(name, value) });
    yield;
  }
  return entries;
}

/** Entries by name. Duplicates are kept, but share the memory of an equal first entry. */
class EntryTable {
  readonly #first = new Map<string, Entry>();
  readonly #others: Entry[] = [];

  add(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (this.#first.has(entry.name)) this.#others.push(entry);
      else this.#first.set(entry.name, entry);
    }
  }

  /** Replaces existing entries. */
  put(entries: readonly Entry[]): void {
    for (const entry of entries) this.#first.set(entry.name, entry);
  }

  sorted(): Entry[] {
    return [...this.#first.values()].sort((a, b) => compareUtf8(a.name, b.name));
  }

  shareEqual(): void {
    for (const other of this.#others) {
      const first = this.#first.get(other.name);
      if (first?.bytes.equals(other.bytes)) other.bytes = first.bytes;
    }
  }
}

function bytesOf({ bytes }: Entry): Buffer {
  return bytes;
}

/** Returns the head of the joined document; the first document takes precedence. */
function joinedHead(heads: readonly SwaggerHead[]): SwaggerHead {
  const parameters = parametersOf(heads);
  const secured = heads.find(({ securityDefinitions }) => Object.keys(securityDefinitions).length > 0);
  return {
    info: heads[0]?.info ?? {},
    parameters: Object.fromEntries([...parameters].sort(([a], [b]) => compareUtf8(a, b))),
    securityDefinitions: secured?.securityDefinitions ?? {},
  };
}

function parametersOf(heads: readonly SwaggerHead[]): Map<string, SwaggerParameter> {
  return new Map(heads.flatMap((head) => Object.entries(head.parameters)).reverse());
}
