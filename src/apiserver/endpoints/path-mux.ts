import { respondNoRoute } from '#apiserver/endpoints/handlers/responses';
import type { Handler, RequestContext } from '#apiserver/request/request-context';

/**
 * Handlers of non-resource paths: exact ones, and prefixes (which end with a slash; the longest wins). What none knows goes
 * to `fallback`. Upstream: apiserver/pkg/server/mux/pathrecorder.go.
 */
export class PathMux {
  readonly #exact = new Map<string, Handler>();
  #prefixes: { readonly prefix: string; readonly handler: Handler }[] = [];
  #fallback: ((context: RequestContext) => boolean) | undefined;
  readonly #listed = new Set<string>();

  /** Throws if the path is taken. `listed` paths are shown at `/`. */
  handle(path: string, handler: Handler, listed = true): void {
    if (this.#exact.has(path)) throw new Error(`mux: ${path} has a handler already`);
    this.#exact.set(path, handler);
    if (listed) this.#listed.add(path);
  }

  /** What upstream serves by go-restful: a document to GET alone, with slashes at the end of its path too, and nothing below it. */
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

  /** What serves all other paths (Express): answers whether it took the request. */
  setFallback(fallback: (context: RequestContext) => boolean): void {
    this.#fallback = fallback;
  }

  /** Paths shown at `/`. */
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

/** Of methods other than GET, HEAD among them, it says that there is no such route. */
export function onlyGet(handler: Handler): Handler {
  return (context) => (context.method === 'GET' ? handler(context) : respondNoRoute(context, 405));
}

/** A path without the slashes at its end. */
export function trimSlashes(path: string): string {
  let end = path.length;
  while (path.charCodeAt(end - 1) === 0x2f) end -= 1;
  return path.slice(0, end);
}
