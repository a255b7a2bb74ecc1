import { metaTables } from '#apimachinery/meta/schema/tables';
import { gnosticV3Document } from '#apimachinery/openapi/gnostic-v3';
import { OpenApiSchemas } from '#apimachinery/openapi/schemas';
import type { V3Document } from '#apimachinery/openapi/swagger';
import type { TableFolder } from '#apimachinery/runtime/table-folder';
import type { ApiGroup } from '#apiserver/registry/api-group';
import type { DocumentBuilder } from './document-builder.ts';
import {
  type DocumentTraits,
  documentInfo,
  groupDocument,
  groupVersionDocument,
  rootDocument,
  rootDocumentNames,
} from './group-version-document.ts';
import { gnosticForm, JoinedSwagger, jsonForm } from './joined-swagger.ts';
import { documentAnswer, jsonParts, type OpenApiAnswer, toAnswer } from './openapi-answer.ts';
import { inSteps, oneStep, type Steps } from '#apimachinery/runtime/steps';

/** Documents by the path below `/openapi/v3/`, such as `apis/apps/v1`. */
export type OpenApiDocuments = ReadonlyMap<string, DocumentBuilder>;

/** Returns the documents of built-in groups, whose types are in `tables`. */
export function groupDocuments(groups: readonly ApiGroup[], tables: TableFolder, traits: DocumentTraits = {}): OpenApiDocuments {
  const documents = new Map<string, DocumentBuilder>();
  for (const { group, versions, resources } of groups) {
    if (group !== '') documents.set(`apis/${group}`, () => oneStep(() => groupDocument(group, tables)));
    for (const { version } of versions) {
      documents.set(group === '' ? `api/${version}` : `apis/${group}/${version}`, () =>
        oneStep(() => groupVersionDocument({ group, version }, resources, tables, traits)),
      );
    }
  }
  return documents;
}

/** Returns the documents that belong to no group: `api`, `apis`, `version`, and those of OpenID. */
export function rootDocuments(tables: TableFolder): OpenApiDocuments {
  return new Map(rootDocumentNames.map((name) => [name, () => oneStep(() => rootDocument(name, tables))]));
}

/**
 * Documents of `/openapi/v3`, `/openapi/v3/…` and `/openapi/v2`. Each source (built-in groups, custom resources, aggregated
 * servers) sets all of its documents at once. Documents are built on first use, in chunks that yield to the event loop, and cached
 * until a source changes.
 */
export class OpenApiRegistry {
  readonly #sources = new Map<string, OpenApiDocuments>();
  #foreign: OpenApiDocuments = new Map();
  readonly #answers = new WeakMap<DocumentBuilder, Promise<OpenApiAnswer>>();
  readonly #protobuf = new WeakMap<DocumentBuilder, Promise<OpenApiAnswer>>();
  readonly #json = new JoinedSwagger(jsonForm);
  readonly #gnostic = new JoinedSwagger(gnosticForm);
  #present: OpenApiDocuments | undefined;
  #index: Promise<OpenApiAnswer> | undefined;
  #swaggerJson: Promise<OpenApiAnswer> | undefined;
  #swaggerProtobuf: Promise<OpenApiAnswer> | undefined;

  /** Replaces the documents of a source; a document with the same builder stays cached. */
  set(source: string, documents: OpenApiDocuments): void {
    this.#sources.set(source, documents);
    this.#forget();
  }

  /** Replaces the documents of other servers. They take precedence, except in the joined document, where they come last, in order. */
  setForeign(documents: OpenApiDocuments): void {
    this.#foreign = documents;
    this.#forget();
  }

  #forget(): void {
    this.#present = undefined;
    this.#index = undefined;
    this.#swaggerJson = undefined;
    this.#swaggerProtobuf = undefined;
  }

  /** Returns `/openapi/v3`: the paths of the documents with URLs whose content never changes. */
  index(): Promise<OpenApiAnswer> {
    return (this.#index ??= this.#makeIndex());
  }

  /** Returns `/openapi/v3/<path>`; undefined for an unknown document. */
  async document(path: string): Promise<OpenApiAnswer | undefined> {
    const builder = this.#documents().get(path);
    return builder && this.#answer(builder);
  }

  /** Returns a document as `application/com.github.proto-openapi.spec.v3@v1.0+protobuf`, with the ETag of the JSON. */
  async documentProtobuf(path: string): Promise<OpenApiAnswer | undefined> {
    const builder = this.#documents().get(path);
    if (!builder) return undefined;
    let answer = this.#protobuf.get(builder);
    if (!answer) {
      answer = this.#makeDocumentProtobuf(builder);
      this.#protobuf.set(builder, answer);
    }
    return answer;
  }

  /** Returns `/openapi/v2` as JSON. */
  swaggerJson(): Promise<OpenApiAnswer> {
    return (this.#swaggerJson ??= this.#json.join(...this.#joined()));
  }

  /** Returns `/openapi/v2` as `application/com.github.proto-openapi.spec.v2@v1.0+protobuf`, with the ETag of the JSON. */
  swaggerProtobuf(): Promise<OpenApiAnswer> {
    return (this.#swaggerProtobuf ??= this.#makeProtobuf());
  }

  /** Returns all documents; for equal paths the source that was set first takes precedence. */
  #documents(): OpenApiDocuments {
    if (this.#present) return this.#present;
    const documents = new Map<string, DocumentBuilder>();
    for (const source of [this.#foreign, ...this.#sources.values()]) {
      for (const [path, builder] of source) if (!documents.has(path)) documents.set(path, builder);
    }
    return (this.#present = new Map([...documents].sort(([a], [b]) => (a < b ? -1 : 1))));
  }

  #answer(builder: DocumentBuilder): Promise<OpenApiAnswer> {
    let answer = this.#answers.get(builder);
    if (!answer) {
      answer = inSteps(answerSteps(builder));
      this.#answers.set(builder, answer);
    }
    return answer;
  }

  async #makeIndex(): Promise<OpenApiAnswer> {
    const paths: [string, { serverRelativeURL: string }][] = [];
    for (const [path, builder] of this.#documents()) {
      const { etag } = await this.#answer(builder);
      paths.push([path, { serverRelativeURL: `/openapi/v3/${path}?hash=${etag}` }]);
    }
    return inSteps(toAnswer(jsonParts({ paths: Object.fromEntries(paths) }, 0)));
  }

  /** Returns the builders of the server's own documents and of others. */
  #joined(): [own: DocumentBuilder[], foreign: DocumentBuilder[]] {
    const own = [...this.#documents()].filter(([path]) => !this.#foreign.has(path)).map(([, builder]) => builder);
    return [[kindsOfAllGroups, ...own], [...this.#foreign.values()]];
  }

  async #makeDocumentProtobuf(builder: DocumentBuilder): Promise<OpenApiAnswer> {
    const { etag, modified } = await this.#answer(builder);
    return { ...(await inSteps(protobufSteps(builder))), etag, modified };
  }

  async #makeProtobuf(): Promise<OpenApiAnswer> {
    const joined = this.#joined();
    const { etag } = await this.swaggerJson();
    return { ...(await this.#gnostic.join(...joined)), etag };
  }
}

function* answerSteps(builder: DocumentBuilder): Steps<OpenApiAnswer> {
  return yield* documentAnswer(yield* builder());
}

function* protobufSteps(builder: DocumentBuilder): Steps<OpenApiAnswer> {
  return yield* toAnswer(yield* gnosticV3Document(yield* builder()));
}

/**
 * Builds a document with DeleteOptions and WatchEvent, which are kinds of every group and have all their kinds in the joined
 * document.
 */
function* kindsOfAllGroups(): Steps<V3Document> {
  yield;
  const types = new OpenApiSchemas(metaTables);
  const schemas = ['meta_v1.DeleteOptions', 'meta_v1.WatchEvent'].map((type) => [types.name(type), types.component(type, new Set())]);
  return { info: documentInfo, paths: {}, components: { schemas: Object.fromEntries(schemas) } };
}
