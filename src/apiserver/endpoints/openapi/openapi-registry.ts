import { metaTables } from '#apimachinery/meta/schema/tables';
import { OpenApiSchemas } from '#apimachinery/openapi/schemas';
import type { V3Document } from '#apimachinery/openapi/swagger';
import type { TableFolder } from '#apimachinery/runtime/table-folder';
import type { ApiGroup } from '#apiserver/registry/api-group';
import type { DocumentBuilder } from './document-builder.ts';
import { documentInfo, groupDocument, groupVersionDocument, rootDocument, rootDocumentNames } from './group-version-document.ts';
import { gnosticForm, JoinedSwagger, jsonForm } from './joined-swagger.ts';
import { documentAnswer, jsonParts, type OpenApiAnswer, toAnswer } from './openapi-answer.ts';
import { inSteps, oneStep, type Steps } from '#apimachinery/runtime/steps';

/** By what follows `/openapi/v3/`: `apis/apps/v1`. */
export type OpenApiDocuments = ReadonlyMap<string, DocumentBuilder>;

/** All documents of built-in groups, whose types are in `tables`; `hasCbor` tells whether their resources come in CBOR, too. */
export function groupDocuments(groups: readonly ApiGroup[], tables: TableFolder, hasCbor = false): OpenApiDocuments {
  const documents = new Map<string, DocumentBuilder>();
  for (const { group, versions, resources } of groups) {
    if (group !== '') documents.set(`apis/${group}`, () => oneStep(() => groupDocument(group, tables)));
    for (const { version } of versions) {
      documents.set(group === '' ? `api/${version}` : `apis/${group}/${version}`, () =>
        oneStep(() => groupVersionDocument({ group, version }, resources, tables, hasCbor)),
      );
    }
  }
  return documents;
}

/** The documents of what belongs to no group: `api`, `apis`, `version`, and those of OpenID. */
export function rootDocuments(tables: TableFolder): OpenApiDocuments {
  return new Map(rootDocumentNames.map((name) => [name, () => oneStep(() => rootDocument(name, tables))]));
}

/**
 * `/openapi/v3`, `/openapi/v3/…` and `/openapi/v2`. Each source (built-in groups, custom resources, aggregated servers) sets
 * its documents as a whole. Nothing is made before it is asked for; then it is made in steps, between which others run, and
 * kept until a source changes.
 */
export class OpenApiRegistry {
  readonly #sources = new Map<string, OpenApiDocuments>();
  #foreign: OpenApiDocuments = new Map();
  readonly #answers = new WeakMap<DocumentBuilder, Promise<OpenApiAnswer>>();
  readonly #json = new JoinedSwagger(jsonForm);
  readonly #gnostic = new JoinedSwagger(gnosticForm);
  #present: OpenApiDocuments | undefined;
  #index: Promise<OpenApiAnswer> | undefined;
  #swaggerJson: Promise<OpenApiAnswer> | undefined;
  #swaggerProtobuf: Promise<OpenApiAnswer> | undefined;

  /** Replaces the documents of a source; those whose builder is the same as before are not made again. */
  set(source: string, documents: OpenApiDocuments): void {
    this.#sources.set(source, documents);
    this.#forget();
  }

  /** The same of documents of other servers. They win, but in the joined document they come last, in their order. */
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

  /** `/openapi/v3`: the documents with the addresses under which they may be cached for ever. */
  index(): Promise<OpenApiAnswer> {
    return (this.#index ??= this.#makeIndex());
  }

  /** `/openapi/v3/<path>`; undefined if there is no such document. */
  async document(path: string): Promise<OpenApiAnswer | undefined> {
    const builder = this.#documents().get(path);
    return builder && this.#answer(builder);
  }

  /** `/openapi/v2` as JSON. */
  swaggerJson(): Promise<OpenApiAnswer> {
    return (this.#swaggerJson ??= this.#json.join(...this.#joined()));
  }

  /** `/openapi/v2` as `application/com.github.proto-openapi.spec.v2@v1.0+protobuf`. It has the etag of the JSON. */
  swaggerProtobuf(): Promise<OpenApiAnswer> {
    return (this.#swaggerProtobuf ??= this.#makeProtobuf());
  }

  /** Sources that were set first come first, and win where two have a document of one name. */
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

  /** The server's own documents, and those of others. */
  #joined(): [own: DocumentBuilder[], foreign: DocumentBuilder[]] {
    const own = [...this.#documents()].filter(([path]) => !this.#foreign.has(path)).map(([, builder]) => builder);
    return [[kindsOfAllGroups, ...own], [...this.#foreign.values()]];
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

/** DeleteOptions and WatchEvent are kinds of every group: the joined document shows them all. */
function* kindsOfAllGroups(): Steps<V3Document> {
  yield;
  const types = new OpenApiSchemas(metaTables);
  const schemas = ['meta_v1.DeleteOptions', 'meta_v1.WatchEvent'].map((type) => [types.name(type), types.component(type, new Set())]);
  return { info: documentInfo, paths: {}, components: { schemas: Object.fromEntries(schemas) } };
}
