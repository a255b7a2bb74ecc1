import type { Handler, RequestContext } from '#apiserver/endpoints/request/request-context';

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

  /** A document of its own: what upstream serves by go-restful answers with a slash at its end too. */
  handleDocument(path: string, handler: Handler): void {
    this.handle(path, handler);
    this.handle(`${path}/`, handler, false);
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

  /** Paths shown at `/`, sorted. */
  get paths(): string[] {
    return [...this.#listed].sort();
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
