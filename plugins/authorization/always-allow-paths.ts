import type { AuthorizationAttributes, AuthorizationResult, Authorizer } from 'kubenest/sdk';

const allow: AuthorizationResult = { decision: 'Allow', reason: '' };
const noOpinion: AuthorizationResult = { decision: 'NoOpinion', reason: '' };

/** Returns the error of a path; undefined if it is valid. */
export function alwaysAllowPathProblem(path: string): string | undefined {
  return path.slice(0, -1).includes('*') ? `only trailing * allowed in ${JSON.stringify(path)}` : undefined;
}

/**
 * Allows everyone to request certain non-resource paths; a trailing `*` matches any suffix. The leading slash is optional.
 * Upstream: apiserver/pkg/authorization/path/path.go.
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
