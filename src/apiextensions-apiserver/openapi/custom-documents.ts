import type { OpenApiDocuments } from '#apiserver/endpoints/openapi/openapi-registry';
import type { DocumentBuilder } from '#apiserver/endpoints/openapi/document-builder';
import type { CustomDefinition } from '../server/resource-definitions.ts';
import { customDocument, type DocumentSources, documentSources } from './custom-document.ts';

interface Known {
  readonly sources: DocumentSources;
  readonly builder: DocumentBuilder;
}

/** OpenAPI documents of all custom resources. Documents with unchanged definitions keep their builder and are not rebuilt. */
export class CustomDocuments {
  #known: ReadonlyMap<string, Known> = new Map();

  /** Returns the documents of all served `definitions`. */
  of(definitions: Iterable<CustomDefinition>): OpenApiDocuments {
    const next = new Map<string, Known>();
    for (const [path, sources] of documentSources(definitions)) {
      const known = this.#known.get(path);
      next.set(
        path,
        known && isSame(known.sources, sources)
          ? known
          : { sources, builder: () => customDocument(sources.groupVersion, sources.resources) },
      );
    }
    this.#known = next;
    return new Map([...next].map(([path, { builder }]) => [path, builder]));
  }
}

function isSame(a: DocumentSources, b: DocumentSources): boolean {
  return a.resources.length === b.resources.length && a.resources.every((resource, i) => resource === b.resources[i]);
}
