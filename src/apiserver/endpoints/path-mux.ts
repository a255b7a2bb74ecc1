import { respondNoRoute } from '#apiserver/endpoints/handlers/responses';
import type { Handler, RequestContext } from '#apiserver/request/request-context';

/**
 * Handlers of non-resource paths: exact paths, and prefixes (which end with a slash; the longest match is used). Other paths go to
 * `fallback`. Upstream: apiserver/pkg/server/mux/pathrecorder.go.
 */
export class PathMux {
  readonly #exact = new Map<string, Handler>();
  #prefixes: { readonly prefix: string; readonly handler: Handler }[] = [];
  #fallback: ((context: RequestContext) => boolean) | undefined;
  readonly #listed = new Set<string>();

  /** Adds a handler. Throws for a duplicate path. `listed` paths are shown at `/`. */
  handle(path: string, handler: Handler, listed = true): void {
    if (this.#exact.has(path)) throw new Error(`mux: duplicate handler for ${path}`);
    this.#exact.set(path, handler);
    if (listed) this.#listed.add(path);
  }

  /** Adds a document that upstream serves by go-restful: GET only, also with trailing slashes, and no paths below it. */
  handleDocument(path: string, handler: Handler): void {
    const serve = onlyGet(handler);
    this.handle(path, serve);
    this.handlePrefix(`${path}/`, (context) => (trimSlashes(context.path) === path ? serve(context) : respondNoRoute(context, 404)));
  }

  remove(path: string): void {
    this.#exact.delete(path);
    this.#listed.delete(path);
  }

  handlePrefix(prefix: string, handler: Handler): void {
    this.#prefixes.push({ prefix, handler });
    this.#prefixes.sort((a, b) => b.prefix.length - a.prefix.length);
  }

  /** Sets the handler of all other paths (Express), which returns true if it serves the request. */
  setFallback(fallback: (context: RequestContext) => boolean): void {
    this.#fallback = fallback;
  }

  /** Paths listed at `/`. */
  get paths(): string[] {
    return [...this.#listed];
  }

  serve(context: RequestContext, notFound: Handler): void | Promise<void> {
    const { path } = context;
    const exact = this.#exact.get(path);
    if (exact) return exact(context);
    for (const { prefix, handler } of this.#prefixes) if (path.startsWith(prefix)) return handler(context);
    if (this.#fallback?.(context)) return;
    return notFound(context);
  }
}

/** Responds to methods other than GET, including HEAD, that there is no such route. */
export function onlyGet(handler: Handler): Handler {
  return (context) => (context.method === 'GET' ? handler(context) : respondNoRoute(context, 405));
}

/** Removes trailing slashes of a path. */
export function trimSlashes(path: string): string {
  let end = path.length;
  while (path.charCodeAt(end - 1) === 0x2f) end -= 1;
  return path.slice(0, end);
}
