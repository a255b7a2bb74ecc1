/** The parts of an image reference, with the defaults that container runtimes apply. */
export interface ImageReference {
  /** Host and port of the registry: `docker.io`, `localhost:5000`. */
  readonly registry: string;
  /** Path in the registry: `library/nginx`. */
  readonly repository: string;
  /** Tag; `latest` if the reference has neither a tag nor a digest, undefined if it has only a digest. */
  readonly tag: string | undefined;
  /** Digest: `sha256:…`. */
  readonly digest: string | undefined;
  /** Registry and repository: `docker.io/library/nginx`. */
  readonly name: string;
}

const host =
  '(?:(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?';
const hostForm = new RegExp(`^${host}$`);
const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const repositoryForm = new RegExp(`^${component}(?:/${component})*$`);
const tagForm = /^\w[\w.-]{0,127}$/;
const digestForm = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;
const longestName = 255;

/** Results by text, because the rules of a request, and requests of one controller, parse the same references. */
const known = new Map<string, ImageReference | undefined>();
const maxKnown = 500;
const longestKnown = 512;

/**
 * Parses an image reference as container runtimes do. Returns undefined for a text that is none.
 *
 * | text | registry | repository | tag | digest |
 * |---|---|---|---|---|
 * | `nginx` | `docker.io` | `library/nginx` | `latest` | - |
 * | `ghcr.io/acme/web:1.2` | `ghcr.io` | `acme/web` | `1.2` | - |
 * | `localhost:5000/web@sha256:…` | `localhost:5000` | `web` | - | `sha256:…` |
 *
 * A registry has one spelling: in lower case, and without the port 443; Docker Hub is `docker.io` by each of its names.
 *
 * Grammar: distribution/reference/regexp.go and normalize.go.
 */
export function parseImage(text: string): ImageReference | undefined {
  if (text.length > longestKnown) return parse(text);
  if (!known.has(text)) {
    if (known.size >= maxKnown) known.clear();
    known.set(text, parse(text));
  }
  const reference = known.get(text);
  return reference && { ...reference };
}

function parse(text: string): ImageReference | undefined {
  const at = text.indexOf('@');
  const digest = at < 0 ? undefined : text.slice(at + 1);
  const tagged = at < 0 ? text : text.slice(0, at);
  const colon = tagged.lastIndexOf(':');
  const hasTag = colon > tagged.lastIndexOf('/');
  const written = hasTag ? tagged.slice(colon + 1) : undefined;
  const { registry, repository } = withDefaults(hasTag ? tagged.slice(0, colon) : tagged);
  const name = `${registry}/${repository}`;
  if (!hostForm.test(registry) || name.length > longestName || !repositoryForm.test(repository)) return undefined;
  if (written !== undefined && !tagForm.test(written)) return undefined;
  if (digest !== undefined && !digestForm.test(digest)) return undefined;
  return { registry, repository, tag: written ?? (digest === undefined ? 'latest' : undefined), digest, name };
}

const dockerHub = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io']);

/** Splits a name. Without a registry it is one of Docker Hub, whose official images are in `library`. */
function withDefaults(name: string): { readonly registry: string; readonly repository: string } {
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(slash, 0));
  const isRegistry = first !== '' && (/[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase());
  const host = first.toLowerCase().replace(/:443$/, '');
  const registry = !isRegistry || dockerHub.has(host) ? 'docker.io' : host;
  const repository = isRegistry ? name.slice(slash + 1) : name;
  return { registry, repository: registry === 'docker.io' && !repository.includes('/') ? `library/${repository}` : repository };
}
