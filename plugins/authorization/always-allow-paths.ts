import type { AuthorizationAttributes, AuthorizationResult, Authorizer } from 'kubenest/sdk';

const allow: AuthorizationResult = { decision: 'Allow', reason: '' };
const noOpinion: AuthorizationResult = { decision: 'NoOpinion', reason: '' };

/** What is wrong with a path; undefined if nothing is. */
export function alwaysAllowPathProblem(path: string): string | undefined {
  return path.slice(0, -1).includes('*') ? `only trailing * allowed in ${JSON.stringify(path)}` : undefined;
}

/**
 * Paths of no resource that everybody may ask for; one that ends in `*` stands for all that begin so. The first slash may be
 * left out. Upstream: apiserver/pkg/authorization/path/path.go.
 */
export class AlwaysAllowPaths implements Authorizer {
  readonly name = 'AlwaysAllowPaths';
  readonly #paths: ReadonlySet<string>;
  readonly #prefixes: readonly string[];

  constructor(paths: readonly string[]) {
    const relative = paths.map(withoutSlash);
    this.#paths = new Set(relative.filter((path) => !path.endsWith('*')));
    this.#prefixes = relative.filter((path) => path.endsWith('*')).map((path) => path.slice(0, -1));
  }

  authorize({ isResourceRequest, path }: AuthorizationAttributes): AuthorizationResult {
    if (isResourceRequest) return noOpinion;
    const relative = withoutSlash(path);
    return this.#paths.has(relative) || this.#prefixes.some((prefix) => relative.startsWith(prefix)) ? allow : noOpinion;
  }
}

function withoutSlash(path: string): string {
  return path.replace(/^\//, '');
}
