import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { metaTables } from '#apimachinery/meta/schema/tables';
import { encodeGnostic } from '#apimachinery/openapi/gnostic';
import { type JsonSchema, OpenApiSchemas } from '#apimachinery/openapi/schemas';
import { joinSwagger, type Swagger, type V3Document } from '#apimachinery/openapi/swagger';
import type { TableFolder } from '#apimachinery/runtime/table-folder';
import type { ApiGroup } from '#apiserver/registry/api-group';
import { groupDocument, groupVersionDocument, type OpenApiV3Document, rootDocument, rootDocumentNames } from './group-version-document.ts';

/** An answer that is ready to be sent. */
export interface OpenApiAnswer {
  readonly bytes: Buffer;
  /** Without its quotes; it is also the `hash` of the index. */
  readonly etag: string;
}

/** Makes a document of OpenAPI 3.0 when it is first needed, and again for the joined document of 2.0. */
export type DocumentBuilder = () => OpenApiV3Document | V3Document;
/** By what follows `/openapi/v3/`: `apis/apps/v1`. */
export type OpenApiDocuments = ReadonlyMap<string, DocumentBuilder>;

/** All documents of built-in groups, whose types are in `tables`. */
export function groupDocuments(groups: readonly ApiGroup[], tables: TableFolder): OpenApiDocuments {
  const documents = new Map<string, DocumentBuilder>();
  for (const { group, versions, resources } of groups) {
    if (group !== '') documents.set(`apis/${group}`, () => groupDocument(group, tables));
    for (const { version } of versions) {
      documents.set(group === '' ? `api/${version}` : `apis/${group}/${version}`, () =>
        groupVersionDocument({ group, version }, resources, tables),
      );
    }
  }
  return documents;
}

/** The documents of what belongs to no group: `api`, `apis`, `version`, and those of OpenID. */
export function rootDocuments(tables: TableFolder): OpenApiDocuments {
  return new Map(rootDocumentNames.map((name) => [name, () => rootDocument(name, tables)]));
}

/**
 * `/openapi/v3`, `/openapi/v3/…` and `/openapi/v2`. Each source (built-in groups, custom resources, aggregated servers) sets
 * its documents as a whole. Nothing is made before it is asked for; then it is made in steps, between which others run, and
 * kept until a source changes.
 */
export class OpenApiRegistry {
  readonly #sources = new Map<string, OpenApiDocuments>();
  readonly #answers = new Map<string, { readonly builder: DocumentBuilder; readonly answer: OpenApiAnswer }>();
  #index: Promise<OpenApiAnswer> | undefined;
  #swagger: Promise<{ json: OpenApiAnswer; document: Swagger }> | undefined;
  #gnostic: Promise<OpenApiAnswer> | undefined;

  /** Replaces the documents of a source; those whose builder is the same as before are not made again. */
  set(source: string, documents: OpenApiDocuments): void {
    this.#sources.set(source, documents);
    const present = this.#documents();
    for (const [path, { builder }] of this.#answers) if (present.get(path) !== builder) this.#answers.delete(path);
    this.#index = undefined;
    this.#swagger = undefined;
    this.#gnostic = undefined;
  }

  /** `/openapi/v3`: the documents with the addresses under which they may be cached for ever. */
  index(): Promise<OpenApiAnswer> {
    return (this.#index ??= this.#makeIndex());
  }

  /** `/openapi/v3/<path>`; undefined if there is no such document. */
  async document(path: string): Promise<OpenApiAnswer | undefined> {
    const builder = this.#documents().get(path);
    return builder && this.#answer(path, builder);
  }

  /** `/openapi/v2` as JSON. */
  async swaggerJson(): Promise<OpenApiAnswer> {
    return (await (this.#swagger ??= this.#makeSwagger())).json;
  }

  /** `/openapi/v2` as `application/com.github.proto-openapi.spec.v2@v1.0+protobuf`. */
  swaggerProtobuf(): Promise<OpenApiAnswer> {
    return (this.#gnostic ??= this.#makeGnostic());
  }

  /** Sources that were set first come first, and win where two have a document of one name. */
  #documents(): ReadonlyMap<string, DocumentBuilder> {
    const documents = new Map<string, DocumentBuilder>();
    for (const source of this.#sources.values()) {
      for (const [path, builder] of source) if (!documents.has(path)) documents.set(path, builder);
    }
    return new Map([...documents].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  async #answer(path: string, builder: DocumentBuilder): Promise<OpenApiAnswer> {
    const known = this.#answers.get(path);
    if (known?.builder === builder) return known.answer;
    const document = builder();
    await setImmediate();
    const json = escapeHtml(JSON.stringify(document));
    await setImmediate();
    const answer = answerOf(json);
    this.#answers.set(path, { builder, answer });
    return answer;
  }

  async #makeIndex(): Promise<OpenApiAnswer> {
    const paths: [string, { serverRelativeURL: string }][] = [];
    for (const [path, builder] of this.#documents()) {
      const { etag } = await this.#answer(path, builder);
      paths.push([path, { serverRelativeURL: `/openapi/v3/${path}?hash=${etag}` }]);
      await setImmediate();
    }
    return answerOf(JSON.stringify({ paths: Object.fromEntries(paths) }));
  }

  async #makeSwagger(): Promise<{ json: OpenApiAnswer; document: Swagger }> {
    const documents = this.#documents();
    const document = await inSteps(
      joinSwagger(
        (function* build() {
          for (const builder of documents.values()) yield builder();
        })(),
        kindsOfAllGroups(),
      ),
    );
    return { json: answerOf(JSON.stringify(document)), document };
  }

  async #makeGnostic(): Promise<OpenApiAnswer> {
    const { json, document } = await (this.#swagger ??= this.#makeSwagger());
    return { bytes: await inSteps(encodeGnostic(document)), etag: json.etag };
  }
}

/** DeleteOptions and WatchEvent are kinds of every group: the joined document shows them all. */
function kindsOfAllGroups(): Record<string, JsonSchema> {
  const schemas = new OpenApiSchemas(metaTables);
  return Object.fromEntries(
    ['meta_v1.DeleteOptions', 'meta_v1.WatchEvent'].map((type) => [schemas.name(type), schemas.component(type, new Set())]),
  );
}

async function inSteps<T>(steps: Generator<void, T, void>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await setImmediate();
  }
}

/** As Go's encoding/json writes texts. */
function escapeHtml(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function answerOf(json: string): OpenApiAnswer {
  const bytes = Buffer.from(json);
  return { bytes, etag: createHash('sha512').update(bytes).digest('hex').toUpperCase() };
}
