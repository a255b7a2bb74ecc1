import { Buffer } from 'node:buffer';
import { quote } from '#apimachinery/runtime/quote';
import { respondBytes } from '#apiserver/endpoints/handlers/responses';
import type { RequestContext } from '#apiserver/request/request-context';

/** A named health check. It fails by throwing; the reason is only logged because the endpoints are public. */
export interface HealthCheck {
  readonly name: string;
  check(): void | Promise<void>;
}

const textPlain = 'text/plain; charset=utf-8';

/**
 * Serves /healthz, /livez or /readyz with `?verbose`, `?exclude=` and a path for each check. Upstream:
 * apiserver/pkg/server/healthz/healthz.go.
 */
export class HealthEndpoint {
  constructor(
    /** Name of the endpoint: `healthz`, `livez` or `readyz`. */
    readonly name: string,
    readonly checks: () => readonly HealthCheck[],
    readonly onFailure: (endpoint: string, check: string, error: unknown) => void,
    readonly onHealthy: () => void = () => {},
    /** Called with the result of each check of the whole endpoint. */
    readonly onChecked: (endpoint: string, check: string, isHealthy: boolean) => void = () => {},
  ) {}

  /** Responds to a path of this endpoint; returns false for other paths. */
  async serve(context: RequestContext): Promise<boolean> {
    const root = `/${this.name}`;
    if (context.path === root) {
      await this.#all(context);
      return true;
    }
    const check = context.path.startsWith(`${root}/`) ? this.checks().find(({ name }) => context.path === `${root}/${name}`) : undefined;
    if (!check) return false;
    await this.#one(context, check);
    return true;
  }

  async #all(context: RequestContext): Promise<void> {
    const excluded = new Set(context.searchParams.getAll('exclude'));
    const unknown = new Set(excluded);
    const results = await Promise.all(
      this.checks().map(async (one) => {
        if (excluded.has(one.name)) {
          unknown.delete(one.name);
          return { text: `[+]${one.name} excluded: ok\n`, failed: false };
        }
        const error = await this.#run(one);
        this.onChecked(this.name, one.name, error === undefined);
        return error === undefined
          ? { text: `[+]${one.name} ok\n`, failed: false }
          : { text: `[-]${one.name} failed: reason withheld\n`, failed: true };
      }),
    );
    let details = results.map(({ text }) => text).join('');
    if (unknown.size > 0)
      details += `warn: some health checks cannot be excluded: no matches for ${[...unknown].sort().map(quote).join(', ')}\n`;
    if (results.some(({ failed }) => failed)) return this.#respond(context, 500, `${details}${this.name} check failed\n`);
    this.onHealthy();
    this.#respond(context, 200, context.searchParams.has('verbose') ? `${details}${this.name} check passed\n` : 'ok');
  }

  async #one(context: RequestContext, check: HealthCheck): Promise<void> {
    const error = await this.#run(check);
    if (error === undefined) respondBytes(context, 200, textPlain, Buffer.from('ok'));
    else this.#respond(context, 500, `internal server error: ${(error as Error).message}\n`);
  }

  async #run(check: HealthCheck): Promise<unknown> {
    try {
      await check.check();
      return undefined;
    } catch (error) {
      this.onFailure(this.name, check.name, error);
      return error ?? new Error('failed');
    }
  }

  #respond(context: RequestContext, status: number, text: string): void {
    context.headers.push('X-Content-Type-Options', 'nosniff');
    respondBytes(context, status, textPlain, Buffer.from(text));
  }
}
