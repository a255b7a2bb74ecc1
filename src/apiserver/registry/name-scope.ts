import { newBadRequest } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';

/** Throws BadRequest if the object's name differs from that of the URL. Upstream: endpoints/handlers/rest.go (checkName). */
export function ensureNameMatches(name: string, { metadata }: KubeObject): void {
  if (!metadata.name) throw newBadRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (metadata.name !== name) throw newBadRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
}
