import { createHash } from 'node:crypto';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Returns the full name of an image, as container runtimes report it: `nginx` is `docker.io/library/nginx:latest`. Upstream:
 * github.com/distribution/reference (ParseDockerRef).
 */
export function fullImageName(image: string): string {
  const slash = image.indexOf('/');
  const first = slash < 0 ? '' : image.slice(0, slash);
  const isHost = first === 'localhost' || /[.:]/.test(first);
  const path = isHost ? image : `docker.io/${slash < 0 ? 'library/' : ''}${image}`;
  const name = path.slice(path.lastIndexOf('/') + 1);
  return /[:@]/.test(name) ? path : `${path}:latest`;
}

/** Returns a stable made-up identifier of an image: its repository with a digest. */
export function imageId(image: string): string {
  const full = fullImageName(image);
  const repository = full.includes('@') ? full.slice(0, full.indexOf('@')) : full.slice(0, full.lastIndexOf(':'));
  const given = /@(sha256:[0-9a-f]{64})$/.exec(full)?.[1];
  return `${repository}@${given ?? `sha256:${digest(full)}`}`;
}

/** Returns the identifier of one run of a container. */
export function containerId(podUid: string, container: string, restart: number): string {
  return `containerd://${digest(`${podUid}/${container}/${restart}`)}`;
}
