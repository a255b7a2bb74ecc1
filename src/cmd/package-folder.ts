import { fileURLToPath } from 'node:url';

/** Returns the folder of the package or checkout that contains this code. */
export function packageFolder(): string {
  const here = fileURLToPath(import.meta.url);
  return here.slice(0, here.search(/[/\\](dist[/\\])?src[/\\]cmd[/\\][^/\\]*$/));
}
